import { domainToASCII } from 'node:url';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { freePort, waitUntil } from './waiting.ts';

/** A mail as the SMTP server took it. */
export type ReceivedMail = {
  /** Recipients of the envelope. */
  recipients: string[];
  sender: string;
  messageId: string;
  subject: string;
  text: string;
  html: string;
  /** Names in lower case. */
  headers: { key: string; value: string }[];
  raw: string;
  receivedAt: number;
  /** The sign-in link. */
  link: string;
  /** The six-digit code. */
  code: string;
};

/** How the server treats what comes: `greylist` answers 451 to so many tries, `silent` never answers, to anybody or for some recipients. */
export type Behaviour =
  | { kind: 'accept' }
  | { kind: 'refuse'; addresses: string[] }
  | { kind: 'greylist'; tries: number }
  | { kind: 'silent'; addresses?: string[] };

export type Mailbox = {
  /** For SMTP_URL. */
  url: string;
  mails: ReceivedMail[];
  /** RCPT commands answered with 451 or 550 since the start. */
  refusals: number;
  behave(behaviour: Behaviour): void;
  /** The oldest mail for the address that was not asked for yet; waits for it. */
  waitFor(address: string, milliseconds?: number): Promise<ReceivedMail>;
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
  let behaviour: Behaviour = { kind: 'accept' };
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
        const answer = refusal(address);
        if (answer) mailbox.refusals++;
        done(answer);
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
    // A client that is killed in mid-dialogue is no fault of the server's.
    built.on('error', () => {});
    return built;
  }

  /** @param address null: before any recipient is named */
  function isSilentFor(address: string | null): boolean {
    if (behaviour.kind !== 'silent') return false;
    return behaviour.addresses === undefined || (address !== null && behaviour.addresses.includes(address));
  }

  function refusal(address: string): Error | null {
    if (behaviour.kind === 'refuse' && behaviour.addresses.includes(address)) {
      return Object.assign(new Error('No such mailbox'), { responseCode: 550 });
    }
    if (behaviour.kind === 'greylist' && triesLeft-- > 0) {
      return Object.assign(new Error('Greylisted, come back later'), { responseCode: 451 });
    }
    return null;
  }

  const mailbox: Mailbox = {
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    refusals: 0,
    behave(next) {
      behaviour = next;
      if (next.kind === 'greylist') triesLeft = next.tries;
    },
    async waitFor(address, milliseconds = 45_000) {
      let found: ReceivedMail | undefined;
      await waitUntil(`a mail for ${address}`, milliseconds, () => {
        found = mailbox.mailsFor(address).find((mail) => !taken.has(mail));
        return found !== undefined || `${mailbox.mails.length} other mails came`;
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
    recipients: rcptTo.map(({ address }) => asSent(address)),
    sender: mailFrom ? mailFrom.address : '',
    messageId: mail.messageId ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: mail.headers,
    raw: raw.toString('latin1'),
    receivedAt: Date.now(),
    ...waysIn(mail),
  };
}

/** smtp-server decodes the A-labels of a domain. */
function asSent(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`;
}

function waysIn(mail: Email): { link: string; code: string } {
  const text = mail.text ?? '';
  const link = /https?:\/\/\S+\/auth\/(?:link|callback)\?\S+/.exec(text)?.[0] ?? '';
  const code = /(?<![\w-])(\d{3})[ \u00a0]?(\d{3})(?![\w-])/.exec(text.replace(/https?:\/\/\S+/g, ''));
  return { link, code: code ? code[1] + code[2] : '' };
}
