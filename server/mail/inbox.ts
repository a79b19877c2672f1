import { randomUUID } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A message of the built-in inbox. */
export type InboxMessage = {
  id: string;
  from: string;
  to: string;
  subject: string;
  /** ISO 8601: when it came. */
  date: string;
  text: string;
  html: string;
  /** The first link of the text; empty when there is none. */
  link: string;
  /** The six-digit code; empty when there is none. */
  code: string;
};

/** Where mails go in local mode without a mail server: a folder that all worker processes share. */
export type Inbox = {
  /** Keeps a whole message (RFC 5322). */
  deliver(message: Buffer): Promise<void>;
  /** The newest first. */
  list(): Promise<InboxMessage[]>;
  find(id: string): Promise<InboxMessage | null>;
  /** @returns the message as it was sent */
  raw(id: string): Promise<string | null>;
  /** Calls back when a message came, in any process. @returns how to stop */
  watch(changed: () => void): Promise<() => void>;
};

const MAX_MESSAGES = 200;
const PRUNE_EVERY = 20;
/** One write makes several events of the file system. */
const SETTLE_MS = 50;
const FILE = /^(\d{13})-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createInbox({ dataDir }: { dataDir: string }): Inbox {
  const folder = join(dataDir, 'inbox');
  const parsed = new Map<string, InboxMessage>();
  let deliveries = 0;
  let made: Promise<unknown> | null = null;

  // The messages hold links that sign in: they are for this user's eyes alone.
  const makeFolder = () => {
    made ??= mkdir(folder, { recursive: true, mode: 0o700 });
    return made;
  };

  const ids = async () => {
    await makeFolder();
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith('.eml'))
      .map((name) => name.slice(0, -4))
      .filter((id) => FILE.test(id))
      .sort()
      .reverse();
  };

  const prune = async () => {
    for (const id of (await ids()).slice(MAX_MESSAGES)) {
      parsed.delete(id);
      await rm(join(folder, `${id}.eml`), { force: true });
    }
  };

  const raw = async (id: string) => {
    if (!FILE.test(id)) return null;
    return readFile(join(folder, `${id}.eml`), 'utf8').catch(() => null);
  };

  const find = async (id: string) => {
    const known = parsed.get(id);
    if (known) return known;
    const message = await raw(id);
    if (message === null) return null;
    const found = await parse(id, message);
    parsed.set(id, found);
    return found;
  };

  return {
    async deliver(message) {
      await makeFolder();
      const name = `${String(Date.now()).padStart(13, '0')}-${randomUUID()}`;
      const unfinished = join(folder, `${name}.part`);
      await writeFile(unfinished, message, { mode: 0o600 });
      await rename(unfinished, join(folder, `${name}.eml`));
      if (deliveries++ % PRUNE_EVERY === 0) await prune();
    },
    async list() {
      const newest = (await ids()).slice(0, MAX_MESSAGES);
      const found = await Promise.all(newest.map(find));
      return found.filter((message) => message !== null);
    },
    find,
    raw,
    async watch(changed) {
      await makeFolder();
      let settled = true;
      const settle = () => {
        settled = true;
        changed();
      };
      const watcher: FSWatcher = watch(folder, { persistent: false }, () => {
        if (settled) setTimeout(settle, SETTLE_MS).unref();
        settled = false;
      });
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    },
  };
}

async function parse(id: string, message: string): Promise<InboxMessage> {
  const { default: PostalMime } = await import('postal-mime');
  const { from, to, subject = '', text = '', html = '' } = await PostalMime.parse(message);
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
    code: /^[ \t]*(\d{6})[ \t]*\r?$/m.exec(text)?.[1] ?? '',
  };
}
