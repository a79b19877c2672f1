import { randomUUID } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ENTERED } from '../../contract/entered.ts';

/** A message of the built-in inbox. */
export type InboxMessage = {
  id: string;
  from: string;
  to: string;
  subject: string;
  /** ISO 8601: when it was delivered. */
  date: string;
  text: string;
  html: string;
  /** The first link of the text; empty when there is none. */
  link: string;
  /** The code, of whichever method; empty when there is none. */
  code: string;
};

const MAX_MESSAGES = 200;
const PRUNE_EVERY = 20;
/** One write causes several events of the file system. */
const SETTLE_MS = 50;
const FILE = /^(\d{13})-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The built-in inbox of local mode, when there is no mail server: a folder in DATA_DIR. */
export class Inbox {
  readonly #folder: string;
  readonly #parsed = new Map<string, InboxMessage>();
  #deliveries = 0;

  constructor({ dataDir }: { dataDir: string }) {
    this.#folder = join(dataDir, 'inbox');
  }

  /** Stores a whole message (RFC 5322). */
  async deliver(message: Buffer): Promise<void> {
    await this.#createFolder();
    const name = `${String(Date.now()).padStart(13, '0')}-${randomUUID()}`;
    const unfinished = join(this.#folder, `${name}.part`);
    await writeFile(unfinished, message, { mode: 0o600 });
    await rename(unfinished, this.#fileOf(name));
    if (this.#deliveries++ % PRUNE_EVERY === 0) await this.#prune();
  }

  /** Returns the messages that contain a text in address, subject or body, newest first. @param query empty: all */
  async list(query = ''): Promise<InboxMessage[]> {
    const newest = (await this.#ids()).slice(0, MAX_MESSAGES);
    const found = await Promise.all(newest.map((id) => this.find(id)));
    const wanted = query.toLowerCase();
    return found.filter((message) => message !== null).filter((message) => searchedText(message).includes(wanted));
  }

  async find(id: string): Promise<InboxMessage | null> {
    const cached = this.#parsed.get(id);
    if (cached) return cached;
    const source = await this.source(id);
    if (source === null) return null;
    const message = await parse(id, source);
    this.#parsed.set(id, message);
    return message;
  }

  /** Returns the message as it was sent, or null. */
  async source(id: string): Promise<string | null> {
    if (!FILE.test(id)) return null;
    return readFile(this.#fileOf(id), 'utf8').catch(() => null);
  }

  /** Deletes messages. */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.#parsed.delete(id);
      await rm(this.#fileOf(id), { force: true });
    }
  }

  /** Calls back when any process delivered a message. Returns a function that ends this. */
  async watch(changed: () => void): Promise<() => void> {
    await this.#createFolder();
    let settled = true;
    const settle = () => {
      settled = true;
      changed();
    };
    const watcher: FSWatcher = watch(this.#folder, { persistent: false }, () => {
      if (settled) setTimeout(settle, SETTLE_MS).unref();
      settled = false;
    });
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  }

  /** The messages contain links that sign in, so only this user may read the folder. */
  #createFolder(): Promise<unknown> {
    return mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  async #ids(): Promise<string[]> {
    await this.#createFolder();
    const names = await readdir(this.#folder);
    return names
      .filter((name) => name.endsWith('.eml'))
      .map((name) => name.slice(0, -4))
      .filter((id) => FILE.test(id))
      .sort()
      .reverse();
  }

  async #prune(): Promise<void> {
    await this.remove((await this.#ids()).slice(MAX_MESSAGES));
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.eml`);
  }
}

const searchedText = ({ to, subject, text }: InboxMessage) => `${to}\n${subject}\n${text}`.toLowerCase();

async function parse(id: string, message: string): Promise<InboxMessage> {
  const { default: PostalMime } = await import('postal-mime');
  const { from, to, subject = '', text = '', html = '' } = await PostalMime.parse(message);
  const lines = text.split('\n').map((line) => line.trim());
  const link = /https?:\/\/\S+/.exec(text)?.[0] ?? '';
  return {
    id,
    from: from?.name || from?.address || '',
    to: to?.[0]?.address ?? '',
    subject,
    date: new Date(Number(id.slice(0, 13))).toISOString(),
    text: text.trim(),
    html,
    link,
    code: lines.find((line) => Object.values(ENTERED).some(({ pattern }) => pattern.test(line))) ?? '',
  };
}
