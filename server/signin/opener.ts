import { REPEAT_SECONDS } from '../../contract/limits.ts';
import { type EmailMethod, METHODS } from '../../contract/methods.ts';
import { type PasskeyCreationOptions, type RequiredPasskey, SIGN_IN_PATHS } from '../../contract/pages.ts';
import type { Destination } from '../../contract/signin.ts';
import { type Browser, rememberAccount } from '../developers/browser.ts';
import { batched } from '../platform/db/batch.ts';
import type { Database } from '../platform/db/database.ts';
import type { Cookies } from '../platform/http/cookies.ts';
import { digest } from '../platform/secrets.ts';
import { endedBySibling, hasIdOf, LIFE, sameRegistration, stillAwaited } from './attempt-conditions.ts';
import type { AttemptKind, AttemptSecrets, IssuedSecrets } from './attempts.ts';
import { completeSignIns, issueIn, type SignedIn } from './complete.ts';
import { needsPasskey, withToken } from './destination.ts';

/** A person who proved the address to a website or an application that accepts only a passkey. */
export type AddressProven = { kind: 'passkey_needed'; email: string; authKey: string; destination: Destination; language: string };

/**
 * What opening an attempt by its link or code leads to. `signed_in_before`: this browser has opened it; `redirectUrl` is the page "You are
 * signed in", and `verified` says whether the token was used.
 */
export type OpeningResult =
  | ({ kind: 'signed_in' } & SignedIn)
  | AddressProven
  | { kind: 'signed_in_before'; email: string; redirectUrl: string; verified: boolean };

/** An address that was just proven. `device`: the device cookie of the browser. */
export type ProvenAddress = { email: string; device: string };

/** Offers a passkey after a sign-in by email (methods/passkeys.ts). */
export type PasskeyOffers = {
  offer(cookies: Cookies, proven: ProvenAddress): Promise<PasskeyCreationOptions | null>;
  /** Returns what the page needs on which the visitor has to add one. */
  require(cookies: Cookies, proven: AddressProven, device: string): Promise<RequiredPasskey>;
};

/** Who may open an attempt, and by what in its email: the browser that began it (its hash), or any browser that gives the address. */
type OpenedBy = { browser: Buffer | null; email: string | null; method: EmailMethod };

/** The opening of an attempt by its link or code. */
type Opening = OpenedBy & {
  id: string;
  tokenHash: Buffer;
  device: Buffer;
  selector: Buffer;
  verifier: Buffer;
  label: string;
};
type Opened = {
  email: string;
  language: string;
  destination: Destination;
  passkeyFirst: boolean;
};

/**
 * Consumes attempts, once each: of several openings of one attempt, here or in another process, one is returned. In the same
 * statement the tokens are issued and the accounts remembered. One array per column: row n of all arrays is one opening.
 * $1…$9: the columns of Opening, $10: the least and $11: the greatest id, so that only their partitions are searched. The audit row contains
 * how many whole seconds the visitor took: less than LIFE, since the attempt had not expired. It is null for a link that is valid for days.
 *
 * Where the website accepts only a passkey, no token is issued: the visitor has proven the address, and may add a passkey.
 */
const OPEN = `
with given as materialized (
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::text[], $9::text[])
  with ordinality as g (id, browser, email, token, device, selector, verifier, label, method, n)
),
consumed as (
  update sign_in_attempts a set consumed_at = now()
  from given g
  where a.id = any($1) and a.id between $10 and $11 and ${hasIdOf('a', 'g')} and a.kind <> 'app' and a.consumed_at is null and a.expires_at > now()
    and (a.browser = g.browser or a.email = g.email)
    and (a.domain is null or ${sameRegistration('a.domain', `a.expires_at - ${LIFE}`)})
    and not ${endedBySibling('a')}
    and ${stillAwaited('a')}
  returning g.n, a.id, a.kind, a.email, coalesce(a.mailbox, a.email) as mailbox, a.domain, a.client_id, a.audience, a.destination, a.browser, a.expires_at, a.language, ${needsPasskey('a.destination')} as passkey_first,
    g.token, g.device, g.selector, g.verifier, g.label, g.method::"char" as method,
    case when a.kind not in ('registration', 'invitation') then greatest(0, floor(extract(epoch from ${LIFE} - (a.expires_at - now()))))::integer end as seconds
),
${completeSignIns('consumed', {
  method: 'method',
  signIn: 'id',
  audit: {
    action: "case when passkey_first then 'address_proven' when kind = 'oidc' then 'application_signed_in' else 'signed_in' end",
    domain: 'domain',
    clientId: "case when kind = 'oidc' then client_id end",
    seconds: 'seconds',
  },
  token: {
    hash: 'case when not passkey_first then token end',
    domain: 'domain',
    audience: "case when kind = 'site' then audience end",
    interaction: "sha256(convert_to(destination->>'interaction', 'UTF8'))",
    browser: "case when kind <> 'site' then browser end",
  },
  remembered: { device: 'device', label: 'label', selector: 'selector', verifier: 'verifier' },
})}
select n::integer, email, language, destination, passkey_first as "passkeyFirst" from consumed`;

/**
 * Returns an attempt that this browser has opened: the account that the opening remembered is still signed in on its device. $1 attempt,
 * $2 device, $3 selectors and $4 tokens that the opening may have issued, $5 an address or null. `isRecent`: the same result may be
 * given again; `used`: the token was verified.
 */
const OPENED_HERE = `
select a.email, a.language, a.destination, ${needsPasskey('a.destination')} as "passkeyFirst", k.selector, a.consumed_at > now() - interval '${REPEAT_SECONDS} seconds' as "isRecent",
  t.used_at is not null as used, t.hash is not null as "hasToken"
from sign_in_attempts a
join remembered_keys k on k.device = $2 and k.email = a.email and k.selector = any($3) and k.verifier <> ''
left join tokens t on t.hash = any($4)
where a.id = $1 and a.consumed_at is not null and a.email = coalesce($5, a.email)`;

type OpenedHere = Opened & { selector: Buffer; isRecent: boolean; used: boolean; hasToken: boolean };

type AttemptId = { kind: AttemptKind; id: string };

type Parts = { core: Database['core']; secrets: AttemptSecrets; publicUrl: string };

/** Opens attempts of visitors, by link or code. */
export class AttemptOpener {
  readonly #parts: Parts;
  readonly #openBatched: (opening: Opening) => Promise<Opened | null>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#openBatched = batched('signin-open', (openings) => openAll(parts.core, openings), { order: byId });
  }

  /**
   * Opens an attempt for this browser: issues a token and remembers the account. Returns null when the attempt cannot be opened so;
   * where this browser has opened it, the result of `openAgain`.
   */
  async open({ kind, id }: AttemptId, browser: Browser, by: OpenedBy): Promise<OpeningResult | null> {
    const issued = this.#parts.secrets.issue(kind, id);
    const { stored } = await issueIn(browser, issued);
    const opened = await this.#openBatched({ id, ...stored, ...by });
    return opened ? resultOf(opened, issued) : this.openAgain({ kind, id }, browser, by.email);
  }

  /**
   * Returns the result of an opening again that this browser has made within REPEAT_SECONDS: a double click aborts the first request.
   * Later, or where the token was used, it leads to the page "You are signed in" instead. Nothing is issued or changed.
   * @param email of the attempt; null: any
   */
  async openAgain({ kind, id }: AttemptId, browser: Browser, email: string | null): Promise<OpeningResult | null> {
    const { core, secrets, publicUrl } = this.#parts;
    const issued = secrets.issued(kind, id);
    const selectors = issued.map(({ authKey }) => authKey.selector);
    const values = [id, digest(browser.device), selectors, issued.map(({ token }) => digest(token)), email];
    const { rows } = await core.query<OpenedHere>({ name: 'signin-opened-here', text: OPENED_HERE, values });
    const [opened] = rows;
    if (!opened) return null;
    const { email: owner, used, isRecent, hasToken, passkeyFirst } = opened;
    if (used || (hasToken && !isRecent)) {
      const redirectUrl = `${publicUrl}${SIGN_IN_PATHS.link}?t=${secrets.link(kind, id)}`;
      return { kind: 'signed_in_before', email: owner, redirectUrl, verified: used };
    }
    const same = issued.find(({ authKey }) => authKey.selector.equals(opened.selector));
    return same && isRecent && hasToken !== passkeyFirst ? resultOf(opened, same) : null;
  }
}

/** What a call responds after a proof by email. */
type ProofResponse = { redirectUrl: string; passkey?: PasskeyCreationOptions } | { addPasskey: RequiredPasskey };

/**
 * Makes a browser remember the account of a proof by email, and returns where it goes on: to the website, to a passkey that it has to add,
 * or to the offer of one, which is made once.
 * @param options.offers the browser is the person's own
 */
export async function respondToProof(
  passkeys: PasskeyOffers,
  cookies: Cookies,
  opened: OpeningResult,
  { device }: Browser,
  { offers = true } = {},
): Promise<ProofResponse> {
  const { kind, email } = opened;
  if (kind === 'signed_in_before') return { redirectUrl: opened.redirectUrl };
  rememberAccount(cookies, email, opened.authKey);
  if (kind === 'passkey_needed') return { addPasskey: await passkeys.require(cookies, opened, device) };
  const passkey = offers ? await passkeys.offer(cookies, { email, device }) : null;
  return { redirectUrl: opened.redirectUrl, ...(passkey && { passkey }) };
}

function resultOf({ email, language, destination, passkeyFirst }: Opened, { token, authKey: { key } }: IssuedSecrets): OpeningResult {
  if (passkeyFirst) return { kind: 'passkey_needed', email, authKey: key, destination, language };
  return { kind: 'signed_in', email, authKey: key, redirectUrl: withToken(destination.url, token) };
}

// Statements of several processes lock their rows in one order, so that they never deadlock. OPEN also needs this order.
const byId = (a: Opening, b: Opening) => (a.id < b.id ? -1 : 1);

async function openAll(core: Database['core'], openings: Opening[]): Promise<(Opened | null)[]> {
  const { rows } = await core.query<Opened & { n: number }>({
    name: 'signin-open',
    text: OPEN,
    values: [
      openings.map(({ id }) => id),
      openings.map(({ browser }) => browser),
      openings.map(({ email }) => email),
      openings.map(({ tokenHash }) => tokenHash),
      openings.map(({ device }) => device),
      openings.map(({ selector }) => selector),
      openings.map(({ verifier }) => verifier),
      openings.map(({ label }) => label),
      openings.map(({ method }) => METHODS[method].code),
      openings[0].id,
      openings[openings.length - 1].id,
    ],
  });
  const opened: (Opened | null)[] = openings.map(() => null);
  for (const { n, ...row } of rows) opened[n - 1] = row;
  return opened;
}
