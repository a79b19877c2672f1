import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { siteOfNetwork } from '../http/client-address.ts';
import type { Cookies } from '../http/cookies.ts';
import type { LimitName, Limits } from '../http/limits.ts';
import type { Account } from '../http/serve.ts';
import type { Outbox } from '../mail/outbox.ts';
import { isRandomSecret, randomSecret } from '../secrets.ts';
import { createAdminSecrets } from './secrets.ts';
import { createAdminStore, PAGE } from './store.ts';

export type Admin = ReturnType<typeof createAdmin>;

/** Decides who may open the admin pages, and for how long; gives them what they list. */
export function createAdmin(parts: {
  config: Pick<Config, 'secretKey' | 'adminPassword'>;
  /** The development endpoints exist. */
  development: boolean;
  database: Database;
  limits: Pick<Limits, 'hit' | 'giveBack'>;
  outbox: Pick<Outbox, 'pending' | 'retry'>;
}) {
  const { config, limits, outbox } = parts;
  const store = createAdminStore(parts.database);
  const secrets = config.adminPassword === null ? null : createAdminSecrets(config.secretKey, config.adminPassword);

  /** The hash of the session that a browser says it has. */
  const sessionOf = (cookies: Cookies): Buffer | null => {
    const secret = cookies.get('admin');
    return secrets && isRandomSecret(secret) ? secrets.sessionHash(secret) : null;
  };

  /** Whether the browser holds an open session; counts as use of it. */
  const isOpen = async (cookies: Cookies): Promise<boolean> => {
    const hash = sessionOf(cookies);
    return hash !== null && (await store.renewSession(hash));
  };

  /** Opens a new session in place of the one that the browser has. @param email who opens it, where that is known */
  const open = async (cookies: Cookies, sessionHash: (secret: string) => Buffer, email: string | null): Promise<void> => {
    const secret = randomSecret();
    await store.openSession({ hash: sessionHash(secret), replaced: sessionOf(cookies), email });
    cookies.set('admin', secret);
  };

  /**
   * Counts a try of the password before it is compared. When the tries of all are used up a network still has one, so that
   * wrong passwords from elsewhere do not refuse the operator; a browser in which the password was right has tries of its own.
   * @returns what was counted
   * @throws Fault rate_limited
   */
  async function countTry(clientAddress: string, browser: string | null): Promise<[LimitName, string][]> {
    const counted: [LimitName, string][] = [];
    const count = async (limit: LimitName, key: string) => {
      await limits.hit(limit, key);
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

  return {
    isOpen,

    async session(cookies: Cookies): Promise<Output<'adminSession'>> {
      return { unlocked: await isOpen(cookies), enabled: secrets !== null, development: parts.development };
    },

    /**
     * Opens a session with the password. A right password is not counted.
     * @throws Fault admin_disabled, rate_limited, bad_password
     */
    async verify({ password }: Parsed<'adminVerify'>, clientAddress: string, cookies: Cookies): Promise<Output<'adminVerify'>> {
      if (!secrets) throw new Fault('admin_disabled');
      const browser = secrets.browserOf(cookies.get('admin_browser'));
      const counted = await countTry(clientAddress, browser);
      if (!secrets.isPassword(password)) {
        await store.noteRefusal();
        throw new Fault('bad_password', { field: 'password' });
      }
      for (const [limit, key] of counted) await limits.giveBack(limit, key);
      await open(cookies, secrets.sessionHash, null);
      if (!browser) cookies.set('admin_browser', secrets.createBrowserMark());
      return { success: true };
    },

    /** Ends the browser's session on all instances. */
    async logout(cookies: Cookies): Promise<Output<'adminLogout'>> {
      const hash = sessionOf(cookies);
      if (hash) await store.closeSession(hash);
      cookies.set('admin', null);
      return { success: true };
    },

    /** Opens a session without the password, for somebody signed in; local mode alone serves it. @throws Fault admin_disabled */
    async enable(account: Account, cookies: Cookies): Promise<Output<'enableAdmin'>> {
      if (!secrets) throw new Fault('admin_disabled');
      await open(cookies, secrets.sessionHash, account.email);
      return { success: true };
    },

    async websites({ before }: Parsed<'adminWebsites'>): Promise<Output<'adminWebsites'>> {
      return (await store.websites(before)).map(withTimes);
    },

    async users({ before }: Parsed<'adminUsers'>): Promise<Output<'adminUsers'>> {
      return (await store.users(before)).map(withTimes);
    },

    async mails({ before }: Parsed<'adminMails'>): Promise<Output<'adminMails'>> {
      const mails = await outbox.pending(PAGE, before);
      return mails.map((mail) => ({ ...withTimes(mail), dueAt: mail.dueAt.toISOString(), expiresAt: mail.expiresAt.toISOString() }));
    },

    /** Has a pending email sent at once. @throws Fault mail_not_found */
    async retryMail({ id }: Parsed<'retryMail'>): Promise<Output<'retryMail'>> {
      if (!(await outbox.retry(id))) throw new Fault('mail_not_found');
      return { success: true };
    },

    async auditLog({ before }: Parsed<'adminAuditLog'>): Promise<Output<'adminAuditLog'>> {
      return (await store.auditLog(before)).map(withTimes);
    },
  };
}

const withTimes = <Entry extends { createdAt: Date }>(entry: Entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() });
