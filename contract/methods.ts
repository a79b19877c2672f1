/** What every program knows of a method. */
type Row = {
  /** The method in the columns `method` of the database. */
  code: string;
  /** The claim `amr` of an ID token (RFC 8176 §2); by variant where the method has variants. */
  amr: readonly string[] | Readonly<Record<string, readonly string[]>>;
  /** The event of a sign-in. `text`: what happened, as the beginning of a sentence. */
  event: { kind: string; reason: string | null; text: string };
  /**
   * The count of its own in statistics: a column of daily_sites for a method without an email, and for one with an email an entry in the
   * arrays of daily_site_times. Null: the method has the rest of the sign-ins with or without an email; one of each has it.
   */
  count: { name: string; description: string } | null;
  /** In the portal, also where there is little space, and in charts. */
  label: string;
  short: string;
  color: string;
  /** By or with what the person signed in. */
  noun: string;
};

type EmailRow = Row & {
  sendsMail: true;
  /** What the person did with it. */
  done: string;
};

type OtherRow = Row & {
  sendsMail: false;
  /** Texts name it, and tables of the command line list it, only where it was used. */
  isExperimental?: true;
  /** The action in audit logs. */
  action: string;
  /** The action in the log of an application. */
  logged: string;
  /** What a count of it means. */
  hint: string;
  plural: { label: string; text: string; mcp: string };
};

/**
 * The methods by which a person signs in, one row each. They are named in English only: no page in another language shows them.
 * `verified_email`: the browser proved the address (Email Verification Protocol).
 */
export const METHODS = {
  link: {
    code: 'l',
    sendsMail: true,
    amr: ['otp'],
    event: { kind: 'opened', reason: null, text: 'The visitor opened the link or entered the code' },
    count: null,
    label: 'Link in the email',
    short: 'Link',
    color: '--color-accent',
    noun: 'the link of an email',
    done: 'opened',
  },
  code: {
    code: 'c',
    sendsMail: true,
    amr: ['otp'],
    event: { kind: 'opened', reason: 'code', text: 'The visitor entered the code' },
    count: { name: 'openedByCode', description: 'Of these, by code' },
    label: 'Code in the email',
    short: 'Code',
    color: '--color-ink',
    noun: 'the code of an email',
    done: 'entered',
  },
  remembered: {
    code: 'r',
    sendsMail: false,
    amr: ['user'],
    event: { kind: 'remembered', reason: null, text: 'A remembered account signed in without an email' },
    count: null,
    label: 'Remembered account',
    short: 'Remembered',
    color: '--color-edge',
    noun: 'a remembered account',
    action: 'signed_in_again',
    logged: 'Signed in with a remembered account',
    hint: 'Signed in again, without an email',
    plural: { label: 'Remembered', text: 'remembered accounts', mcp: 'remembered accounts' },
  },
  passkey: {
    code: 'p',
    sendsMail: false,
    // The key is bound to one device, or several devices may have it.
    amr: { hardware: ['hwk', 'user'], synced: ['swk', 'user'] },
    event: { kind: 'passkey', reason: null, text: 'The visitor signed in with a passkey, without an email' },
    count: { name: 'byPasskey', description: 'Of `again`, with a passkey; the rest is with remembered accounts' },
    label: 'Passkey',
    short: 'Passkey',
    color: '--color-chart-blue',
    noun: 'a passkey',
    action: 'signed_in_passkey',
    logged: 'Signed in with a passkey',
    hint: 'Signed in with a passkey, without an email',
    plural: { label: 'Passkeys', text: 'passkeys', mcp: 'passkeys' },
  },
  verified_email: {
    code: 'v',
    sendsMail: false,
    isExperimental: true,
    amr: ['user'],
    event: { kind: 'verified_email', reason: null, text: 'The browser of the visitor proved the address, without an email' },
    count: { name: 'byVerifiedEmail', description: 'Of `again`, with an address that the browser proved' },
    label: 'Email verified by the browser',
    short: 'Verified email',
    color: '--color-chart-amber',
    noun: 'an address that the browser proved',
    action: 'signed_in_verified_email',
    logged: 'Signed in with an email that the browser verified',
    hint: 'The browser proved the address, without an email',
    plural: { label: 'Verified emails', text: 'addresses that the browser proved', mcp: 'emails that the browser verified' },
  },
} as const satisfies Record<string, EmailRow | OtherRow>;

type Table = typeof METHODS;
export type Method = keyof Table;
type MethodThat<SendsMail extends boolean> = { [M in Method]: Table[M]['sendsMail'] extends SendsMail ? M : never }[Method];
export type EmailMethod = MethodThat<true>;
type OtherMethod = MethodThat<false>;
/** A name of a count that a method has of its own. */
export type CountName<M extends Method = Method> = Exclude<Table[M]['count'], null>['name'];

export const methodNames = Object.keys(METHODS) as [Method, ...Method[]];
const sendsMail = (method: Method): method is EmailMethod => METHODS[method].sendsMail;
/** The methods that send an email. */
export const EMAIL_METHODS: readonly EmailMethod[] = methodNames.filter(sendsMail);
/** The methods that send none. */
export const OTHER_METHODS: readonly OtherMethod[] = methodNames.filter((method) => !sendsMail(method)) as OtherMethod[];

/** Returns a part of a sentence about what an email has, such as `link or code`. @param textOf the part of one method, with its noun */
export const ofEmails = (joint: 'and' | 'or', textOf: (noun: string, done: string) => string): string =>
  EMAIL_METHODS.map((method) => textOf(METHODS[method].short.toLowerCase(), METHODS[method].done)).join(` ${joint} `);

const hasCount = (method: Method) => METHODS[method].count !== null;
/** The methods that send no email, in the order of statistics: the rest is last. */
export const OTHERS_AS_COUNTED: readonly OtherMethod[] = [
  ...OTHER_METHODS.filter(hasCount),
  ...OTHER_METHODS.filter((method) => !hasCount(method)),
];

/** Returns the counts that methods have of their own. */
export const countsOf = <M extends Method>(methods: readonly M[]) =>
  methods.flatMap((method) => {
    const { count } = METHODS[method];
    return count ? [{ ...count, method, name: count.name as CountName<M> }] : [];
  });

/**
 * Returns the sign-ins by each method.
 * @param counts `opened`: all by email, `again`: all without. A missing count is 0, and its sign-ins are in the rest.
 */
export function signInsByMethod(counts: { opened: number; again: number } & Partial<Record<CountName, number>>): Record<Method, number> {
  const own = (method: Method) => counts[METHODS[method].count?.name as CountName] ?? 0;
  const rest = (methods: readonly Method[], total: number) => total - methods.reduce((sum, method) => sum + own(method), 0);
  const [openedRest, againRest] = [rest(EMAIL_METHODS, counts.opened), rest(OTHER_METHODS, counts.again)];
  const ofMethod = (method: Method) => (hasCount(method) ? own(method) : sendsMail(method) ? openedRest : againRest);
  return Object.fromEntries(methodNames.map((method) => [method, ofMethod(method)])) as Record<Method, number>;
}

/** The statistics of a website without sign-ins. */
export const NO_STATS = {
  sent: 0,
  opened: 0,
  again: 0,
  ...(Object.fromEntries(countsOf(OTHER_METHODS).map(({ name }) => [name, 0])) as Record<CountName<OtherMethod>, 0>),
  completed: 0,
  medianSeconds: null,
};
