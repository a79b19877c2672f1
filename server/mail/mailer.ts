import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Readable, Transform } from 'node:stream';
import addressparser from 'nodemailer/lib/addressparser';
import DKIM from 'nodemailer/lib/dkim';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { brandOf } from './brand.ts';
import { type Composition, compose, type Sender } from './composition.ts';
import type { Mail, Outcome, Secrets } from './mail.ts';
import { type Connection, createPool, type Pool, TIMEOUT_MS } from './pool.ts';

/** Writes mails and hands them to the mail server, or to the built-in inbox when there is none. */
export type Mailer = {
  /** Composes the mail that most visitors get, so that the first of them does not wait for it. Rejects when it cannot. */
  prepare(): Promise<void>;
  /**
   * Never rejects.
   * @param startBy when sending must have begun, on the clock of performance.now(); later it is `not_tried`
   */
  send(mail: Mail, secrets: Secrets | null, startBy: number): Promise<Outcome>;
  /** Whether the mail server greets, on a connection of its own. Never rejects. */
  reaches(): Promise<boolean>;
  /** The message as `send` would send it, unsigned. @throws Error when a part is missing or is not in its form */
  write(mail: Mail, secrets: Secrets | null): Promise<string>;
  /** Mails that wait for a connection. */
  waiting(): number;
  /** Finishes what is being sent, and closes the connections. */
  close(): Promise<void>;
};

/** A finished message and its only recipient. */
type Message = { recipient: string; raw(): Buffer | Promise<Buffer> };

type Parts = Pick<Config, 'smtpUrl' | 'mailFrom' | 'dkim' | 'publicUrl'> & {
  log: Log;
  /** Takes the whole message when there is no smtpUrl. */
  deliver?(message: Buffer): Promise<void>;
};

/** @throws Error when mailFrom is no address, the DKIM key is no RSA key, or there is neither smtpUrl nor deliver */
export function createMailer({ smtpUrl, mailFrom, dkim, publicUrl, log, deliver }: Parts): Mailer {
  const sender = senderOf(mailFrom, publicUrl);
  const sign = dkim ? signerOf(dkim) : (message: Buffer) => message;
  const pool = smtpUrl ? smtpPool(smtpUrl, sender, log) : deliver ? folderPool(deliver) : null;
  if (!pool) throw new Error('A mailer needs smtpUrl or deliver');

  // A site's name and logo are filled in like the recipient's parts, so that what is kept here does not grow with the sites.
  const compositions = new Map<string, Promise<Composition> | Composition>();
  const compositionOf = (mail: Pick<Mail, 'kind' | 'language' | 'data'>) => {
    const { kind, language } = mail;
    const logo = brandOf(mail).logoUrl !== '';
    const key = `${kind} ${language} ${logo}`;
    let composition = compositions.get(key);
    if (!composition) {
      composition = compose(kind, language, sender, { logo });
      composition.then(
        (done) => compositions.set(key, done),
        () => compositions.delete(key),
      );
      compositions.set(key, composition);
    }
    return composition;
  };

  return {
    async prepare() {
      await compositionOf({ kind: 'sign_in', language: 'en', data: {} });
    },
    async send(mail, secrets, startBy) {
      const found = compositionOf(mail);
      const composition = found instanceof Promise ? await found.catch(String) : found;
      if (typeof composition === 'string') return { failed: composition };
      let text: string;
      try {
        text = composition.fill(mail, secrets);
      } catch (error) {
        return { refused: String(error) };
      }
      return pool.send({ recipient: mail.recipient, raw: () => sign(Buffer.from(text, 'latin1')) }, startBy);
    },
    reaches: async () => smtpUrl === null || greets(smtpUrl, sender),
    write: async (mail, secrets) => (await compositionOf(mail)).fill(mail, secrets),
    waiting: () => pool.waiting(),
    close: () => pool.close(),
  };
}

/** The built-in inbox behind the same interface. */
function folderPool(deliver: (message: Buffer) => Promise<void>): Pool<Message> {
  return createPool(({ ready }) => {
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
  return createPool<Message>(({ ready, ended }) => {
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
    // Without a name of its own a host greets as an address literal (RFC 5321 §4.1.1.1); nodemailer does that.
    name: /\.[a-z]/.test(ehloName) ? ehloName : undefined,
    ...parseConnectionUrl(smtpUrl),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // The pool itself ends connections that are idle or hang; this only bounds what it would not see.
    socketTimeout: 6 * TIMEOUT_MS,
    socketCloseTimeout: 1_000,
  };
}

/** Opens a connection as far as the mail server's answer to EHLO (RFC 5321 §4.1.1.1), and says goodbye. */
function greets(smtpUrl: string, sender: Sender): Promise<boolean> {
  const { auth: _, ...options } = connectionOptions(smtpUrl, sender);
  return new Promise((resolve) => {
    const smtp = new SMTPConnection(options);
    const end = (good: boolean) => {
      resolve(good);
      if (!good) return smtp.close();
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
        // An object with one recipient: nothing is ever parsed out of a header.
        smtp.send({ from, to: [recipient], size: message.length }, prepared(message), (error) => {
          if (!error) return resolve('sent');
          const outcome = outcomeOf(error);
          if (smtp.destroyed) return resolve(outcome);
          // A refused message leaves a session that is fit for the next one (RFC 5321 §4.1.1.5).
          smtp.reset((unfit) => {
            if (unfit) smtp.close();
            resolve(outcome);
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
 * The message as the wire wants it: composition.ts leaves no bare line end and no dot at the start of a line, so that
 * nodemailer need not look at every byte (RFC 5321 §4.5.2).
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

/** RFC 5321 §4.2.1: 5yz is for good; 503 is nodemailer's exception, a session out of step. */
function outcomeOf(error: Error & { code?: string; permanent?: boolean; responseCode?: number }): Outcome {
  const local = (error.code === 'EENVELOPE' || error.code === 'EMESSAGE') && error.responseCode === undefined;
  return error.permanent || local ? { refused: error.message } : { temporary: error.message, connection: false };
}

function senderOf(mailFrom: string, publicUrl: string): Sender {
  const [mailbox] = addressparser(mailFrom, { flatten: true });
  if (!mailbox?.address?.includes('@')) throw new Error('MAIL_FROM is no address');
  const { name, address } = mailbox;
  return { name, address, publicUrl, messageIdHost: address.slice(address.lastIndexOf('@') + 1) };
}

/** RFC 6376, by nodemailer. The key is read once. */
function signerOf(dkim: NonNullable<Config['dkim']>): (message: Buffer) => Promise<Buffer> {
  const privateKey: KeyObject = createPrivateKey(dkim.privateKey);
  if (privateKey.asymmetricKeyType !== 'rsa') throw new Error('DKIM_KEY is no RSA key');
  const signer = new DKIM({ ...dkim, privateKey });
  return async (message) => {
    const chunks: Buffer[] = [];
    for await (const chunk of signer.sign(message)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
}
