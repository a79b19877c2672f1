import type { Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { freePort, waitUntil } from './waiting.ts';

/** An email as the SMTP server received it. */
export type ReceivedMail = {
  /** The recipients of the envelope. */
  recipients: string[];
  sender: string;
  messageId: string;
  subject: string;
  text: string;
  html: string;
  /** `key` is the name in lower case. */
  headers: { key: string; value: string }[];
  raw: string;
  receivedAt: number;
  /** The sign-in link. */
  link: string;
  /** The six-digit code. */
  code: string;
};

/**
 * How the server treats emails: `greylist` returns 451 for a number of tries. `silent` does not respond, to all or for some
 * recipients, before it changes; at `end`, not to the whole email. `slow` greets after a time. `close` ends the connection `times`
 * times: at `next`, when it is used for a second email, with 421 or a reset; at `end`, after it got the whole email.
 * `refuse_login` refuses the password.
 */
type Behavior =
  | { kind: 'accept' }
  | { kind: 'refuse'; addresses: string[] }
  | { kind: 'greylist'; tries: number }
  | { kind: 'silent'; addresses?: string[]; at?: 'end' }
  | { kind: 'slow'; greetingMs: number }
  | { kind: 'close'; at: 'next' | 'end'; by: '421' | 'reset'; times: number }
  | { kind: 'refuse_login' };

export type Mailbox = {
  /** For SMTP_URL. */
  url: string;
  mails: ReceivedMail[];
  /** Number of RCPT commands that got 451 or 550 since the start. */
  refusals: number;
  /** Number of logins since the start. */
  logins: number;
  behave(behavior: Behavior): void;
  /** Waits for the oldest email for the address that no call has returned before. */
  waitFor(address: string, timeoutMs?: number): Promise<ReceivedMail>;
  mailsFor(address: string): ReceivedMail[];
  /** Closes the port and every connection. */
  down(): Promise<void>;
  /** Listens on the same port again. */
  up(): Promise<void>;
};

/** Starts a real SMTP server on a free port of the loopback. @param login whether it requires a user name and password */
export async function openMailbox({ login = false } = {}): Promise<Mailbox> {
  const port = await freePort();
  const taken = new Set<ReceivedMail>();
  let behavior: Behavior = { kind: 'accept' };
  let triesLeft = 0;
  /** Responses that wait until the behavior changes. */
  const silenced: (() => void)[] = [];
  let server: SMTPServer | null = null;

  function build(): SMTPServer {
    const built = new SMTPServer({
      disabledCommands: login ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
      allowInsecureAuth: true,
      socketTimeout: 600_000,
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 1,
      onConnect(_session, done) {
        if (behavior.kind === 'slow') setTimeout(done, behavior.greetingMs);
        else respond(null, done);
      },
      onAuth({ username }, _session, done) {
        mailbox.logins++;
        const refused = behavior.kind === 'refuse_login';
        done(refused ? Object.assign(new Error('Wrong password'), { responseCode: 535 }) : null, { user: username });
      },
      onMailFrom(_address, session, done) {
        if (session.transaction === 1 || !closes('next')) return respond(null, done);
        if (behavior.kind === 'close' && behavior.by === '421') done(Object.assign(new Error('Closing'), { responseCode: 421 }));
        else reset(built, session);
      },
      onRcptTo({ address }, _session, done) {
        if (isSilentFor(address)) return void silenced.push(done);
        const response = refusal(address);
        if (response) mailbox.refusals++;
        done(response);
      },
      onData(stream, session, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk) => chunks.push(chunk));
        stream.on('end', async () => {
          const mail = await received(Buffer.concat(chunks), session);
          mailbox.mails.push(mail);
          if (closes('end')) reset(built, session);
          else respond(mail.recipients[0], done, 'end');
        });
      },
    });
    // Clients may be killed during a connection.
    built.on('error', () => {});
    return built;
  }

  /** Responds, now or when the behavior changes. @param address null before the first recipient */
  function respond(address: string | null, done: () => void, at?: 'end'): void {
    if (isSilentFor(address, at)) silenced.push(done);
    else done();
  }

  function isSilentFor(address: string | null, at?: 'end'): boolean {
    if (behavior.kind !== 'silent' || behavior.at !== at) return false;
    return behavior.addresses === undefined || (address !== null && behavior.addresses.includes(address));
  }

  function refusal(address: string): Error | null {
    if (behavior.kind === 'refuse' && behavior.addresses.includes(address)) {
      return Object.assign(new Error('No such mailbox'), { responseCode: 550 });
    }
    if (behavior.kind === 'greylist' && triesLeft-- > 0) {
      return Object.assign(new Error('Greylisted, come back later'), { responseCode: 451 });
    }
    return null;
  }

  function closes(at: 'next' | 'end'): boolean {
    return behavior.kind === 'close' && behavior.at === at && behavior.times-- > 0;
  }

  const mailbox: Mailbox = {
    url: `smtp://${login ? 'user:password@' : ''}127.0.0.1:${port}`,
    mails: [],
    refusals: 0,
    logins: 0,
    behave(next) {
      behavior = { ...next };
      for (const done of silenced.splice(0)) done();
      if (next.kind === 'greylist') triesLeft = next.tries;
    },
    async waitFor(address, timeoutMs = 60_000) {
      let found: ReceivedMail | undefined;
      await waitUntil(`an email for ${address}`, timeoutMs, () => {
        found = mailbox.mailsFor(address).find((mail) => !taken.has(mail));
        return found !== undefined || `${mailbox.mails.length} other emails received`;
      });
      taken.add(found as ReceivedMail);
      return found as ReceivedMail;
    },
    mailsFor: (address) => mailbox.mails.filter((mail) => mail.recipients.includes(address)),
    async down() {
      const closing = server;
      server = null;
      if (closing) await new Promise<void>((resolve) => closing.close(resolve));
    },
    async up() {
      const opening = build();
      await new Promise<void>((resolve, reject) => {
        opening.once('error', reject);
        opening.listen(port, '127.0.0.1', resolve);
      });
      server = opening;
    },
  };
  await mailbox.up();
  return mailbox;
}

/** Ends the connection of a session without a reply. */
function reset(server: SMTPServer, { id }: SMTPServerSession): void {
  for (const connection of server.connections as Set<{ id: string; _socket: Socket }>) {
    if (connection.id === id) connection._socket.resetAndDestroy();
  }
}

async function received(raw: Buffer, session: SMTPServerSession): Promise<ReceivedMail> {
  const mail = await PostalMime.parse(raw);
  const { mailFrom, rcptTo } = session.envelope;
  return {
    recipients: rcptTo.map(({ address }) => withALabels(address)),
    sender: mailFrom ? withALabels(mailFrom.address) : '',
    messageId: mail.messageId ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: mail.headers,
    raw: raw.toString('latin1'),
    receivedAt: Date.now(),
    ...secretsIn(mail),
  };
}

/** Returns an address with the A-labels that smtp-server has decoded. */
function withALabels(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`;
}

/** Returns the sign-in link and the code of an email, or empty texts. */
function secretsIn(mail: Email): { link: string; code: string } {
  const text = mail.text ?? '';
  const link = /https?:\/\/\S+\/auth\/(?:link|callback)\?\S+/.exec(text)?.[0] ?? '';
  const code = /(?<![\w-])(\d{3})[ \u00a0]?(\d{3})(?![\w-])/.exec(text.replace(/https?:\/\/\S+/g, ''));
  return { link, code: code ? code[1] + code[2] : '' };
}
