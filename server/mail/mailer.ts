import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Readable, Transform } from 'node:stream';
import DKIM from 'nodemailer/lib/dkim';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import { compose, type MailTemplate, type Sender } from './composition.ts';
import { brandOf, type Mail, type MailDraft, type MailSecrets, type SendResult, warnsOfGuesses } from './mail.ts';
import { type Connection, type Failure, Pool, SOCKET_TIMEOUT_MS } from './pool.ts';

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

  /**
   * Returns what keeps the mail server from taking emails, tried on a connection of its own, or null. Never rejects.
   * @param login whether it also signs in, which servers count
   */
  async failure(login: boolean): Promise<{ failure: Failure; reason: string } | null> {
    return this.#smtpUrl === null ? null : failureOf(this.#smtpUrl, this.#sender, login);
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

  /** Closes the connections of the emails that `close` has not finished. */
  abandon(): void {
    this.#pool.abandon();
  }

  #templateOf(mail: MailDraft): Promise<MailTemplate> | MailTemplate {
    const { kind, language } = mail;
    const { logoUrl, accent } = brandOf(mail);
    const branding = { logo: logoUrl !== '', accent: accent !== '' };
    const warns = warnsOfGuesses(mail);
    const key = `${kind} ${language} ${branding.logo} ${branding.accent} ${warns}`;
    const cached = this.#templates.get(key);
    if (cached) return cached;
    const template = compose(kind, language, this.#sender, branding, warns);
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
      send: async ({ raw }, onData) => {
        onData();
        await deliver(await raw());
        return 'sent';
      },
      close: () => {},
    };
  });
}

function smtpPool(smtpUrl: string, sender: Sender, log: Log): Pool<Message> {
  const { auth, ...options } = connectionOptions(smtpUrl, sender, SOCKET_TIMEOUT_MS);
  return new Pool<Message>(({ ready, replied, ended }) => {
    const smtp = new SMTPConnection({ ...options, ...replyListener(replied) });
    let reason = 'The mail server closed the connection';
    let login = false;
    const fail = (error?: SmtpError | null) => {
      if (!error) return false;
      reason = error.message;
      login = isLoginRefused(error);
      log.debug({ reason }, 'mail: connection failed');
      smtp.close();
      return true;
    };
    smtp.on('error', fail);
    smtp.once('end', () => ended(reason, login));
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

/** @param timeoutMs for each step of opening the connection, and for each reply */
function connectionOptions(smtpUrl: string, { publicUrl }: Sender, timeoutMs: number) {
  const ehloName = new URL(publicUrl).hostname;
  return {
    // A host without a domain name greets with an address literal (RFC 5321 §4.1.1.1), which nodemailer makes.
    name: /\.[a-z]/.test(ehloName) ? ehloName : undefined,
    ...parseConnectionUrl(smtpUrl),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    socketCloseTimeout: 1_000,
  };
}

/** Returns the options of nodemailer with which it calls `replied` when the server accepts the connection, and at each of its replies. */
function replyListener(replied: () => void) {
  const ignore = () => {};
  const observe = (entry: { tnx?: string }) => {
    if (entry.tnx === 'network' || entry.tnx === 'server') replied();
  };
  const logger = { level: ignore, trace: ignore, debug: observe, info: observe, warn: ignore, error: ignore, fatal: ignore };
  return { logger, transactionLog: true };
}

/** A server that takes longer delays sign-ins noticeably, although emails wait for it. */
const CHECK_TIMEOUT_MS = 30_000;

/** Connects to the mail server and sends EHLO (RFC 5321 §4.1.1.1) and QUIT. */
function failureOf(smtpUrl: string, sender: Sender, login: boolean): Promise<{ failure: Failure; reason: string } | null> {
  const { auth, ...options } = connectionOptions(smtpUrl, sender, CHECK_TIMEOUT_MS);
  return new Promise((resolve) => {
    const smtp = new SMTPConnection(options);
    const end = (error?: SmtpError | null) => {
      resolve(error ? { failure: isLoginRefused(error) ? 'login' : 'unreachable', reason: error.message } : null);
      if (error) return smtp.close();
      smtp.quit();
      setTimeout(() => smtp.close(), 1_000).unref();
    };
    smtp.on('error', end);
    smtp.once('end', () => end(new Error('The mail server closed the connection')));
    smtp.connect((error) => {
      if (error || !login || !auth || !smtp.allowsAuth) end(error);
      else smtp.login(auth, end);
    });
  });
}

function connectionOf(smtp: SMTPConnection, from: string): Connection<Message> {
  return {
    async send({ recipient, raw }, onData) {
      const message = await raw();
      return new Promise((resolve) => {
        let began = false;
        const content = contentOf(message, () => {
          began = true;
          onData();
        });
        // An explicit envelope with one recipient, so that no address is parsed out of a header.
        smtp.send({ from, to: [recipient], size: message.length }, content, (error: SmtpError | null) => {
          if (!error) return resolve('sent');
          if (isConnectionEnded(error) || smtp.destroyed) return resolve(began ? resultAtEnd(error) : { lost: error.message });
          const result = resultOf(error);
          const onEnd = () => resolve(result);
          smtp.once('end', onEnd);
          // After a refused message the session can be used for the next one (RFC 5321 §4.1.1.5).
          smtp.reset((resetError) => {
            if (resetError) smtp.close();
            smtp.off('end', onEnd);
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
 * Returns a message as nodemailer reads it once the server has replied to DATA. composition.ts writes no bare line feed and no dot
 * at the start of a line, so that nodemailer does not have to process every byte (RFC 5321 §4.5.2).
 * @param onRead called before the message is sent
 */
function contentOf(message: Buffer, onRead: () => void): Readable {
  const pipe = (into: Transform) => {
    onRead();
    if (message.includes('\r\n.') || !message.subarray(-2).equals(LINE_END)) return into.end(message);
    into.push(Buffer.concat([message, END_OF_DATA]));
    into.push(null);
  };
  return { pipe } as unknown as Readable;
}

type SmtpError = Error & { code?: string; permanent?: boolean; responseCode?: number };

/** Replies about the session and not about the email: 421 closes it (RFC 5321 §3.8), and an error without a reply has ended it. */
function isConnectionEnded({ code, responseCode }: SmtpError): boolean {
  return responseCode === 421 || (responseCode === undefined && (code === 'ECONNECTION' || code === 'ESOCKET' || code === 'ETIMEDOUT'));
}

/** Returns the result of a message whose connection ended while it was sent, or before the server replied to it. */
function resultAtEnd({ message, responseCode }: SmtpError): SendResult {
  return { temporary: message, connection: false, ...(responseCode === undefined && { unconfirmed: true }) };
}

/** Replies of RFC 4954 §6 to a login, and to a command without one, that are the same until someone changes a setting. */
const LOGIN_REPLIES: readonly (number | undefined)[] = [530, 534, 535, 538];

/** Returns whether the server refuses the user name and password or the way in which they are sent, for good or for now. */
function isLoginRefused({ code, responseCode }: SmtpError): boolean {
  return LOGIN_REPLIES.includes(responseCode) || code === 'EAUTH';
}

/** A reply 5yz is permanent (RFC 5321 §4.2.1), except 503, a bad sequence of commands, for nodemailer. */
function resultOf(error: SmtpError): SendResult {
  if (isLoginRefused(error)) return { temporary: error.message, connection: true, login: true };
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
