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

/** How the server treats emails: `greylist` returns 451 for a number of tries, `silent` never responds, to all or for some recipients. */
export type Behavior =
  | { kind: 'accept' }
  | { kind: 'refuse'; addresses: string[] }
  | { kind: 'greylist'; tries: number }
  | { kind: 'silent'; addresses?: string[] };

export type Mailbox = {
  /** For SMTP_URL. */
  url: string;
  mails: ReceivedMail[];
  /** Number of RCPT commands that got 451 or 550 since the start. */
  refusals: number;
  behave(behavior: Behavior): void;
  /** Waits for the oldest email for the address that no call has returned before. */
  waitFor(address: string, timeoutMs?: number): Promise<ReceivedMail>;
  mailsFor(address: string): ReceivedMail[];
  /** Closes the port and every connection. */
  down(): Promise<void>;
  /** Listens on the same port again. */
  up(): Promise<void>;
};

/** Starts a real SMTP server on a free port of the loopback. */
export async function openMailbox(): Promise<Mailbox> {
  const port = await freePort();
  const taken = new Set<ReceivedMail>();
  let behavior: Behavior = { kind: 'accept' };
  let triesLeft = 0;
  let server: SMTPServer | null = null;

  function build(): SMTPServer {
    const built = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 1,
      onConnect: (_session, done) => (isSilentFor(null) ? undefined : done()),
      onMailFrom: (_address, _session, done) => (isSilentFor(null) ? undefined : done()),
      onRcptTo({ address }, _session, done) {
        if (isSilentFor(address)) return;
        const response = refusal(address);
        if (response) mailbox.refusals++;
        done(response);
      },
      onData(stream, session, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk) => chunks.push(chunk));
        stream.on('end', async () => {
          mailbox.mails.push(await received(Buffer.concat(chunks), session));
          done();
        });
      },
    });
    // Clients may be killed during a connection.
    built.on('error', () => {});
    return built;
  }

  /** @param address null before the first recipient */
  function isSilentFor(address: string | null): boolean {
    if (behavior.kind !== 'silent') return false;
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

  const mailbox: Mailbox = {
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    refusals: 0,
    behave(next) {
      behavior = next;
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
