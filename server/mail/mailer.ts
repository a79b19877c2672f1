import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Readable, Transform } from 'node:stream';
import DKIM from 'nodemailer/lib/dkim';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { LanguageCode } from '../../contract/languages.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { compose, escapeHtml, type MailTemplate, type Sender } from './composition.ts';
import { brandOf, type Mail, type MailSecrets, type SendResult } from './mail.ts';
import { type Connection, Pool, TIMEOUT_MS } from './pool.ts';

/** A finished message and its only recipient. */
type Message = { recipient: string; raw(): Buffer | Promise<Buffer> };

type Parts = Pick<Config, 'smtpUrl' | 'mailFrom' | 'dkim' | 'publicUrl'> & {
  log: Log;
  /** Takes the whole message when there is no smtpUrl. */
  deliver?(message: Buffer): Promise<void>;
};

/** Composes emails and sends them to the mail server, or to the built-in inbox when there is none. */
export class Mailer {
  readonly #smtpUrl: string | null;
  readonly #sender: Sender;
  readonly #sign: (message: Buffer) => Buffer | Promise<Buffer>;
  readonly #pool: Pool<Message>;
  // A website's name and logo are filled in like the recipient's parts, so that this does not grow with the number of websites.
  readonly #templates = new Map<string, Promise<MailTemplate> | MailTemplate>();

  /** @throws Error when the DKIM key is not an RSA key, or neither smtpUrl nor deliver is given */
  constructor({ smtpUrl, mailFrom, dkim, publicUrl, log, deliver }: Parts) {
    this.#smtpUrl = smtpUrl;
    this.#sender = { ...mailFrom, publicUrl };
    this.#sign = dkim ? signerOf(dkim) : (message) => message;
    const pool = smtpUrl ? smtpPool(smtpUrl, this.#sender, log) : deliver ? inboxPool(deliver) : null;
    if (!pool) throw new Error('A mailer needs smtpUrl or deliver');
    this.#pool = pool;
  }

  /** Prepares the email that most visitors get, so that the first of them does not wait for it. Rejects when it cannot be composed. */
  async prepare(): Promise<void> {
    await this.#templateOf({ kind: 'sign_in', language: 'en', data: {} });
  }

  /**
   * Sends an email. Never rejects.
   * @param startBy when sending must have begun, on the clock of performance.now(); after it the result is `not_tried`
   */
  async send(mail: Mail, secrets: MailSecrets | null, startBy: number): Promise<SendResult> {
    const found = this.#templateOf(mail);
    const template = found instanceof Promise ? await found.catch(String) : found;
    if (typeof template === 'string') return { failed: template };
    let text: string;
    try {
      text = template.fill(mail, secrets);
    } catch (error) {
      return { refused: String(error), local: true };
    }
    return this.#pool.send({ recipient: mail.recipient, raw: () => this.#sign(Buffer.from(text, 'latin1')) }, startBy);
  }

  /** Returns whether the mail server responds to EHLO, on a connection of its own. Never rejects. */
  async isReachable(): Promise<boolean> {
    return this.#smtpUrl === null || respondsToEhlo(this.#smtpUrl, this.#sender);
  }

  /** Returns the message that `send` would send, unsigned. @throws Error when a part is missing or not valid */
  async write(mail: Mail, secrets: MailSecrets | null): Promise<string> {
    return (await this.#templateOf(mail)).fill(mail, secrets);
  }

  /** Returns the number of emails that wait for a connection. */
  waiting(): number {
    return this.#pool.waiting();
  }

  /** Finishes the emails being sent, and closes the connections. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  #templateOf(mail: Pick<Mail, 'kind' | 'language' | 'data'>): Promise<MailTemplate> | MailTemplate {
    const { kind, language } = mail;
    const { logoUrl, accent } = brandOf(mail);
    const branding = { logo: logoUrl !== '', accent: accent !== '' };
    const key = `${kind} ${language} ${branding.logo} ${branding.accent}`;
    const cached = this.#templates.get(key);
    if (cached) return cached;
    const template = compose(kind, language, this.#sender, branding);
    template.then(
      (composed) => this.#templates.set(key, composed),
      () => this.#templates.delete(key),
    );
    this.#templates.set(key, template);
    return template;
  }
}

/** Returns a pool that delivers to the built-in inbox. */
function inboxPool(deliver: (message: Buffer) => Promise<void>): Pool<Message> {
  return new Pool(({ ready }) => {
    setImmediate(ready);
    return {
      send: async ({ raw }) => {
        await deliver(await raw());
        return 'sent';
      },
      close: () => {},
    };
  });
}

function smtpPool(smtpUrl: string, sender: Sender, log: Log): Pool<Message> {
  const { auth, ...options } = connectionOptions(smtpUrl, sender);
  return new Pool<Message>(({ ready, ended }) => {
    const smtp = new SMTPConnection(options);
    let reason = 'The mail server closed the connection';
    const fail = (error?: Error | null) => {
      if (!error) return false;
      reason = error.message;
      log.warn({ reason }, 'mail: connection failed');
      smtp.close();
      return true;
    };
    smtp.on('error', fail);
    smtp.once('end', () => ended(reason));
    smtp.connect((error) => {
      if (fail(error)) return;
      if (!auth || !smtp.allowsAuth) return ready();
      smtp.login(auth, (refusal) => {
        if (!fail(refusal)) ready();
      });
    });
    return connectionOf(smtp, sender.address);
  });
}

function connectionOptions(smtpUrl: string, { publicUrl }: Sender) {
  const ehloName = new URL(publicUrl).hostname;
  return {
    // A host without a domain name greets with an address literal (RFC 5321 §4.1.1.1), which nodemailer makes.
    name: /\.[a-z]/.test(ehloName) ? ehloName : undefined,
    ...parseConnectionUrl(smtpUrl),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // The pool itself closes connections that are idle or hang; this only bounds what it does not see.
    socketTimeout: 6 * TIMEOUT_MS,
    socketCloseTimeout: 1_000,
  };
}

/** Connects to the mail server and sends EHLO (RFC 5321 §4.1.1.1) and QUIT. Returns whether it responded. */
function respondsToEhlo(smtpUrl: string, sender: Sender): Promise<boolean> {
  const { auth: _, ...options } = connectionOptions(smtpUrl, sender);
  return new Promise((resolve) => {
    const smtp = new SMTPConnection(options);
    const end = (responded: boolean) => {
      resolve(responded);
      if (!responded) return smtp.close();
      smtp.quit();
      setTimeout(() => smtp.close(), 1_000).unref();
    };
    smtp.on('error', () => end(false));
    smtp.once('end', () => resolve(false));
    smtp.connect((error) => end(!error));
  });
}

function connectionOf(smtp: SMTPConnection, from: string): Connection<Message> {
  return {
    async send({ recipient, raw }) {
      const message = await raw();
      return new Promise((resolve) => {
        // An explicit envelope with one recipient, so that no address is parsed out of a header.
        smtp.send({ from, to: [recipient], size: message.length }, prepared(message), (error) => {
          if (!error) return resolve('sent');
          const result = resultOf(error);
          if (smtp.destroyed) return resolve(result);
          // After a refused message the session can be used for the next one (RFC 5321 §4.1.1.5).
          smtp.reset((resetError) => {
            if (resetError) smtp.close();
            resolve(result);
          });
        });
      });
    },
    close(politely) {
      if (!politely) return smtp.close();
      smtp.quit();
      setTimeout(() => smtp.close(), 1_000).unref();
    },
  };
}

const LINE_END = Buffer.from('\r\n');
const END_OF_DATA = Buffer.from('.\r\n');

/**
 * Returns a message as SMTP transmits it. composition.ts writes no bare line feed and no dot at the start of a line, so that
 * nodemailer does not have to process every byte (RFC 5321 §4.5.2).
 */
function prepared(message: Buffer): Buffer | Readable {
  if (message.includes('\r\n.') || !message.subarray(-2).equals(LINE_END)) return message;
  const whole = Buffer.concat([message, END_OF_DATA]);
  const pipe = (into: Transform) => {
    into.push(whole);
    into.push(null);
  };
  return { pipe } as unknown as Readable;
}

/** A reply 5yz is permanent (RFC 5321 §4.2.1), except 503, a bad sequence of commands, for nodemailer. */
function resultOf(error: Error & { code?: string; permanent?: boolean; responseCode?: number }): SendResult {
  const local = (error.code === 'EENVELOPE' || error.code === 'EMESSAGE') && error.responseCode === undefined;
  if (local) return { refused: error.message, local };
  return error.permanent ? { refused: error.message } : { temporary: error.message, connection: false };
}

/** Returns a function that adds a DKIM signature (RFC 6376). The key is parsed once. */
function signerOf(dkim: NonNullable<Config['dkim']>): (message: Buffer) => Promise<Buffer> {
  const privateKey: KeyObject = createPrivateKey(dkim.privateKey);
  if (privateKey.asymmetricKeyType !== 'rsa') throw new Error('DKIM_KEY is not an RSA key');
  const signer = new DKIM({ ...dkim, privateKey });
  return async (message) => {
    const chunks: Buffer[] = [];
    for await (const chunk of signer.sign(message)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
}

/** The policy of a preview: the email has its own styles and shows the logo from any address; it runs no scripts and opens no links. */
export const PREVIEW_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

const SAMPLE_CODE = '123456';

// The header above the email, in the colors of the portal.
const styleSheet = `.envelope{margin:0;padding:14px 20px;border-bottom:1px solid #e2e5e1;background:#fff;color:#141816;font:14px/22px system-ui,sans-serif}
.envelope div{display:flex;gap:12px}.envelope dt{flex:none;width:64px;color:#59625d}.envelope dd{margin:0;min-width:0;overflow-wrap:anywhere}
.envelope span{color:#59625d}
@media (prefers-color-scheme:dark){.envelope{border-color:#2a2f2d;background:#161918;color:#edf0ee}.envelope dt,.envelope span{color:#a0a9a4}}`;

type Sample = { recipient: string; language: LanguageCode; data: Record<string, string> };

/**
 * Returns a sign-in email of a website as an HTML document with sender and subject above it. The mailer writes it as it writes any
 * other, with a link and a code that are not valid.
 * @param theme of the document; null: that of the reader
 */
export async function previewMail(
  { publicUrl, mailer }: { publicUrl: string; mailer: Pick<Mailer, 'write'> },
  sample: Sample,
  theme: 'light' | 'dark' | null,
): Promise<string> {
  const message = await mailer.write(
    { id: 'preview', kind: 'sign_in', ...sample },
    { link: `${publicUrl}/auth/link?t=preview`, code: SAMPLE_CODE },
  );
  const { default: PostalMime } = await import('postal-mime');
  const { html = '', subject = '', from } = await PostalMime.parse(message);
  const envelope = `<dl class="envelope"><div><dt>From</dt><dd>${escapeHtml(from?.name ?? '')} <span>&lt;${escapeHtml(from?.address ?? '')}&gt;</span></dd></div>
<div><dt>Subject</dt><dd>${escapeHtml(subject)}</dd></div></dl>`;
  // The sandbox of the frame opens no windows, so the sample's links do nothing.
  const document = html
    .replace('<head>', () => `<head><base target="_blank"><style>${styleSheet}</style>`)
    .replace(/<body[^<>]*>/, (body) => `${body}${envelope}`);
  return theme ? inTheme(document, theme) : document;
}

/** Makes the media queries of an email apply to one theme, whatever the reader's is. */
function inTheme(html: string, theme: 'light' | 'dark'): string {
  return html
    .replaceAll('(prefers-color-scheme:dark)', theme === 'dark' ? 'all' : 'not all')
    .replaceAll('color-scheme:light dark', `color-scheme:${theme}`);
}
