import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { explain } from '../activity/explanations.ts';
import type { Outbox } from '../mail/outbox.ts';
import { type Config, isDevelopment } from '../platform/config.ts';
import type { Database } from '../platform/db/database.ts';
import { SHOWN_ACTION } from '../platform/db/method-rows.ts';
import type { Orm } from '../platform/db/models.ts';
import { siteOfNetwork } from '../platform/http/client-address.ts';
import type { Cookies } from '../platform/http/cookies.ts';
import { type Account, type Caller, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { LimitName, Limits } from '../platform/http/limits.ts';
import { digest, isRandomSecret, randomSecret, type SecretKeys } from '../platform/secrets.ts';
import { eraseAddress } from './operator-store.ts';

/** Entries of one page of a list. */
const PAGE_SIZE = 50;
/** A session expires after so long, and earlier when it is not used. */
const SESSION_LIFE = "interval '8 hours'";
const MAX_IDLE = "interval '30 minutes'";
/** Less than the time after which proxies give up on a response. */
const MAX_ERASE_MS = 25_000;
/** SQLSTATEs of a lock that was not granted, a deadlock, and a statement that took too long. */
const BUSY = ['55P03', '40P01', '57014'];

type Parts = {
  config: Config;
  secretKeys: SecretKeys;
  database: Database;
  limits: Limits;
  outbox: Outbox;
};

/** The admin pages: their sessions, and the lists that they show. */
export class Admin {
  readonly #parts: Parts;
  /** Null: the admin pages are disabled. */
  readonly #secrets: AdminSecrets | null;

  constructor(parts: Parts) {
    const { adminPassword } = parts.config;
    this.#parts = parts;
    this.#secrets = adminPassword === null ? null : createAdminSecrets(parts.secretKeys, adminPassword);
  }

  /** Whether the browser has an open session. A call counts as its use. */
  async isOpen(cookies: Cookies): Promise<boolean> {
    const hash = this.#sessionOf(cookies);
    if (!hash) return false;
    const { AdminSession, Op, time } = await this.#parts.database.orm();
    const where = { hash, seenAt: { [Op.gt]: time(`now() - ${MAX_IDLE}`) }, expiresAt: { [Op.gt]: time('now()') } };
    const [open] = await AdminSession.update({ seenAt: time('now()') }, { where });
    return open === 1;
  }

  async session({ cookies, isFromThisMachine }: Caller): Promise<Output<'adminSession'>> {
    const development = isDevelopment(this.#parts.config) && isFromThisMachine();
    return { unlocked: await this.isOpen(cookies), enabled: this.#secrets !== null, development };
  }

  /**
   * Opens a session with the password. A correct password does not count against the limits.
   * @throws Fault admin_disabled, rate_limited, bad_password
   */
  async verify({ password }: Parsed<'adminVerify'>, clientAddress: string, cookies: Cookies): Promise<Output<'adminVerify'>> {
    const secrets = this.#enabledSecrets();
    const browser = secrets.browserOf(cookies.get('admin_browser'));
    const counted = await this.#countAttempt(clientAddress, browser);
    if (!secrets.isPassword(password)) {
      const { AuditEntry } = await this.#parts.database.orm();
      await AuditEntry.create({ action: 'admin_refused' });
      throw new Fault('bad_password', { field: 'password' });
    }
    for (const [limit, key] of counted) await this.#parts.limits.giveBack(limit, key);
    await this.#open(cookies, null);
    if (!browser) cookies.set('admin_browser', secrets.createBrowserMark());
    return { success: true };
  }

  /** Ends the browser's session on all instances. */
  async logout(cookies: Cookies): Promise<Output<'adminLogout'>> {
    const hash = this.#sessionOf(cookies);
    if (hash) {
      const { sequelize, AdminSession, AuditEntry } = await this.#parts.database.orm();
      await sequelize.transaction(async (transaction) => {
        const closed = await AdminSession.destroy({ where: { hash }, transaction });
        if (closed > 0) await AuditEntry.create({ action: 'admin_signed_out' }, { transaction });
      });
    }
    cookies.set('admin', null);
    return { success: true };
  }

  /** Opens a session without the password for a signed-in account; served in local mode only. @throws Fault admin_disabled */
  async enable(account: Account, cookies: Cookies): Promise<Output<'enableAdmin'>> {
    this.#enabledSecrets();
    await this.#open(cookies, account.email);
    return { success: true };
  }

  // The lists are newest first and continue after the id `before`.

  async websites({ before, q }: Parsed<'adminWebsites'>): Promise<Output<'adminWebsites'>> {
    const { Website } = await this.#parts.database.orm();
    const websites = await Website.findAll({ ...(await this.#page(before, q, ['domain', 'email'])), raw: true });
    return websites.map(({ id, domain, email, claimedAt, provenAt, createdAt }) =>
      withTimes({ id, domain, email, claimed: claimedAt !== null, verified: provenAt !== null, createdAt }),
    );
  }

  async users({ before, q }: Parsed<'adminUsers'>): Promise<Output<'adminUsers'>> {
    const { sequelize, User } = await this.#parts.database.orm();
    const websites = sequelize.literal('(select count(*)::int from websites w where w.email = "User".email)');
    const users = await User.findAll({
      attributes: ['id', 'email', 'name', 'createdAt', [websites, 'websites']],
      ...(await this.#page(before, q, ['email', 'name'])),
      raw: true,
    });
    return (users as ((typeof users)[number] & { websites: number })[]).map(withTimes);
  }

  async auditLog({ before, q }: Parsed<'adminAuditLog'>): Promise<Output<'adminAuditLog'>> {
    const { sequelize, AuditEntry } = await this.#parts.database.orm();
    const action = sequelize.literal(SHOWN_ACTION);
    const entries = await AuditEntry.findAll({
      attributes: ['id', [action, 'action'], 'email', 'domain', 'object', 'actor', 'device', 'createdAt'],
      ...(await this.#page(before, q, ['email', 'domain', action])),
      raw: true,
    });
    return entries.map(withTimes);
  }

  async mails({ before, q }: Parsed<'adminMails'>): Promise<Output<'adminMails'>> {
    const mails = await this.#parts.outbox.pending(PAGE_SIZE, before, q);
    return mails.map((mail) => ({ ...withTimes(mail), dueAt: mail.dueAt.toISOString(), expiresAt: mail.expiresAt.toISOString() }));
  }

  /** Returns what became of the emails to visitors: the steps that the activity log has of them, since a sent email leaves the outbox. */
  async mailHistory({ before, q, result }: Parsed<'adminMailHistory'>): Promise<Output<'adminMailHistory'>> {
    const actions = Object.keys(MAIL_RESULTS).filter((action) => result === 'all' || MAIL_RESULTS[action] === result);
    const values = [actions, before ?? null, q, PAGE_SIZE];
    const { rows } = await this.#parts.database.core.query<MailStep>({ name: 'admin-mail-history', text: MAIL_HISTORY, values });
    return rows.map(({ action, reason, ...row }) => {
      const { text, fix } = explain(action, reason);
      return { ...withTimes(row), result: MAIL_RESULTS[action], text, fix };
    });
  }

  /** Has a pending email sent at once. @throws Fault mail_not_found */
  async retryMail({ id }: Parsed<'retryMail'>): Promise<Output<'retryMail'>> {
    if (!(await this.#parts.outbox.retry(id))) throw new Fault('mail_not_found');
    return { success: true };
  }

  /**
   * Erases an address from all tables, or only counts its rows.
   * @throws Fault bad_request, websites_undecided, not_table_owner; unavailable when it takes too long, and then nothing is erased
   */
  async erase({ email, dryRun, deleteWebsites, transferTo }: Parsed<'eraseAddress'>): Promise<Output<'eraseAddress'>> {
    const erasure = { address: email, deleted: deleteWebsites, heir: transferTo ?? null };
    const end = performance.now() + MAX_ERASE_MS;
    try {
      return await this.#parts.database.onOwnConnection(MAX_ERASE_MS, async (client) => {
        const rows = await eraseAddress(client, erasure, { dryRun });
        return { erased: !dryRun && Object.keys(rows).length > 0, rows };
      });
    } catch (cause) {
      if (cause instanceof Fault || (performance.now() < end && !BUSY.includes(Object(cause).code))) throw cause;
      throw new Fault('unavailable', {
        message: 'The audit log is too large or too busy to erase the address within a request. Nothing was erased.',
        hint: 'Run `emailauth db erase`, which takes as long as it needs.',
        cause,
      });
    }
  }

  /** @throws Fault admin_disabled */
  #enabledSecrets(): AdminSecrets {
    if (!this.#secrets) throw new Fault('admin_disabled');
    return this.#secrets;
  }

  /** Returns the hashes by which the session in the browser's cookie may be stored, or null; it may have ended. */
  #sessionOf(cookies: Cookies): Buffer[] | null {
    const secret = cookies.get('admin');
    return this.#secrets && isRandomSecret(secret) ? this.#secrets.sessionHashes(secret) : null;
  }

  /** Opens a session, which replaces the browser's present one. @param email of the account, if known */
  async #open(cookies: Cookies, email: string | null): Promise<void> {
    const { sequelize, time, AdminSession, AuditEntry } = await this.#parts.database.orm();
    const secret = randomSecret();
    const hash = this.#enabledSecrets().sessionHash(secret);
    const replaced = this.#sessionOf(cookies);
    const expiresAt = time(`now() + ${SESSION_LIFE}`);
    await sequelize.transaction(async (transaction) => {
      if (replaced) await AdminSession.destroy({ where: { hash: replaced }, transaction });
      await AdminSession.create({ hash, expiresAt }, { transaction });
      await AuditEntry.create({ action: 'admin_signed_in', email }, { transaction });
    });
    cookies.set('admin', secret);
  }

  /**
   * Counts an attempt before its password is compared. When the attempts of all clients together are used up, each network has a few
   * more, so that wrong passwords from elsewhere do not lock out the operator. A browser in which the password was correct before has
   * its own limit.
   * @returns what was counted
   * @throws Fault rate_limited
   */
  async #countAttempt(clientAddress: string, browser: string | null): Promise<[LimitName, string][]> {
    const counted: [LimitName, string][] = [];
    const count = async (limit: LimitName, key: string) => {
      await this.#parts.limits.hit(limit, key);
      counted.push([limit, key]);
    };
    await count('admin_password', clientAddress);
    if (browser) {
      await count('admin_password', browser);
      return counted;
    }
    try {
      await count('admin_password_total', 'all');
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'rate_limited') throw error;
      await count('admin_password_spare', siteOfNetwork(clientAddress));
      await count('admin_password_spare_total', 'all');
    }
    return counted;
  }

  /** @param columns one of them contains the text `q` */
  async #page(before: string | undefined, q: string, columns: (string | ReturnType<Orm['sequelize']['literal']>)[]) {
    const { sequelize, Op } = await this.#parts.database.orm();
    const contains = { [Op.iLike]: `%${q.replaceAll(/[\\%_]/g, '\\$&')}%` };
    return {
      where: {
        ...(before !== undefined && { id: { [Op.lt]: before } }),
        ...(q !== '' && {
          [Op.or]: columns.map((column) => (typeof column === 'string' ? { [column]: contains } : sequelize.where(column, contains))),
        }),
      },
      order: [['id', 'desc']] as [string, string][],
      limit: PAGE_SIZE,
    };
  }
}

/** How the actions of steps say what became of an email. */
const MAIL_RESULTS: Readonly<Record<string, 'sent' | 'failed'>> = { mail_accepted: 'sent', mail_refused: 'failed', mail_expired: 'failed' };

type MailStep = { id: string; action: string; reason: string | null; recipient: string | null; website: string | null; createdAt: Date };

// $1 actions, $2 before which number or null, $3 a text, $4 rows.
const MAIL_HISTORY = `
select id::text, action, result as reason, case when email like '%@%' then email end as recipient, coalesce(domain, client_id) as website,
  at as "createdAt"
from sign_in_steps
where action = any($1) and ($2::bigint is null or id < $2) and (position(lower($3) in email) > 0 or position(lower($3) in coalesce(domain, client_id)) > 0)
order by id desc limit $4`;

const withTimes = <Entry extends { createdAt: Date }>(entry: Entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() });

/** Binds the calls of the admin pages. */
export function adminEndpoints(admin: Admin): Endpoint[] {
  return [
    handle('adminSession', (_, caller) => admin.session(caller)),
    handle('adminVerify', (input, { clientAddress, cookies }) => admin.verify(input, clientAddress, cookies)),
    handle('adminLogout', (_, { cookies }) => admin.logout(cookies)),
    handle('enableAdmin', (_, { account, cookies }) => admin.enable(account, cookies)),
    handle('eraseAddress', (input) => admin.erase(input), { timeoutSeconds: MAX_ERASE_MS / 1000 + 3 }),
    handle('adminWebsites', (input) => admin.websites(input)),
    handle('adminUsers', (input) => admin.users(input)),
    handle('adminMails', (input) => admin.mails(input)),
    handle('adminMailHistory', (input) => admin.mailHistory(input)),
    handle('retryMail', (input) => admin.retryMail(input)),
    handle('adminAuditLog', (input) => admin.auditLog(input)),
  ];
}

/** The checks that depend on the admin password and SECRET_KEY. A change of the password voids every session and browser mark. */
type AdminSecrets = {
  /** Compares in constant time. */
  isPassword(password: string): boolean;
  /** Returns the form in which the secret of a session is stored. */
  sessionHash(secret: string): Buffer;
  /** Returns the forms in which it may be stored, while SECRET_KEY is rotated. */
  sessionHashes(secret: string): Buffer[];
  /** Returns a new value that marks a browser in which the password was correct. */
  createBrowserMark(): string;
  /** Returns the id in the mark of a browser, or null when the mark is not valid. */
  browserOf(mark: string | undefined): string | null;
};

function createAdminSecrets(keys: SecretKeys, password: string): AdminSecrets {
  const expected = digest(password);
  const mac = (key: Buffer, use: 'session' | 'browser', text: string) => {
    const admin = createHmac('sha256', key).update('admin|').update(expected).digest();
    return createHmac('sha256', admin).update(`${use}|${text}`).digest();
  };
  return {
    isPassword: (given) => timingSafeEqual(digest(given), expected),
    sessionHash: (secret) => mac(keys.writing, 'session', secret),
    sessionHashes: (secret) => keys.reading.map((key) => mac(key, 'session', secret)),
    createBrowserMark: () => {
      const id = randomSecret();
      return `${id}.${mac(keys.writing, 'browser', id).toString('base64url')}`;
    },
    browserOf: (mark) => {
      const [id, signature] = mark?.split('.') ?? [];
      if (!isRandomSecret(id) || !isRandomSecret(signature)) return null;
      const given = Buffer.from(signature, 'base64url');
      return keys.reading.some((key) => timingSafeEqual(given, mac(key, 'browser', id))) ? id : null;
    },
  };
}
