import type { z } from 'zod';
import type { WaitlistEntry } from '../../contract/account.ts';
import type { Database } from '../db/database.ts';

/** What an account has set. */
export type Profile = {
  email: string;
  name: string | null;
  organisation: string;
  brandName: string;
  brandLogoUrl: string;
  createdAt: Date;
};

export type AuditRow = { id: string; action: string; createdAt: Date; domain: string | null };

type WaitlistService = z.output<typeof WaitlistEntry>['service'];

type AccountStore = {
  profile(userId: string): Promise<Profile | null>;
  saveName(userId: string, name: string): Promise<void>;
  saveOrganisation(userId: string, organisation: string): Promise<void>;
  saveBrand(userId: string, brand: { name: string; logoUrl: string }): Promise<void>;
  /** What the account did, newest first; not the sign-ins of visitors with its address, nor what happened at its applications. */
  auditLog(email: string, limit: number): Promise<AuditRow[]>;
  waitlists(email: string): Promise<WaitlistService[]>;
  joinWaitlist(email: string, service: WaitlistService): Promise<void>;
  /** Returns the domain of the newest website whose mails have the account's branding, or null. */
  newestBrandedSite(email: string): Promise<string | null>;
};

// Nothing is written, and nothing stands in the audit trail, when all is as it was.
const changeOf = (assignments: string, differs: string, action: string) =>
  `with changed as (update users set ${assignments} where id = $1 and ${differs} returning email)
   insert into audit_log (action, email) select '${action}', email from changed`;

const SAVE_NAME = changeOf("name = nullif($2::text, '')", "coalesce(name, '') <> $2::text", 'profile_changed');
const SAVE_ORGANISATION = changeOf('organisation = $2::text', 'organisation <> $2::text', 'organisation_changed');
const SAVE_BRAND = changeOf(
  'brand_name = $2::text, brand_logo_url = $3::text',
  '(brand_name, brand_logo_url) <> ($2::text, $3::text)',
  'branding_changed',
);

// The condition of the index audit_log_account.
const AUDIT_LOG = `
select id::text, action, at as "createdAt", domain from audit_log
where email = $1 and client_id is null and action not in ('sign_in_requested', 'signed_in', 'signed_in_again', 'token_verified')
order by audit_log.id desc limit $2`;

const JOIN_WAITLIST = `
with joined as (insert into waitlist (service, email) values ($1, $2) on conflict do nothing returning email)
insert into audit_log (action, email) select 'waitlist_joined', email from joined`;

/** The SQL of an account's own settings. A change and its audit row are one statement. */
export function createAccountStore(database: Pick<Database, 'orm'>): AccountStore {
  async function ask<Row>(sql: string, bind: unknown[]): Promise<Row[]> {
    const [rows] = await (await database.orm()).query(sql, { bind });
    return rows as Row[];
  }

  return {
    profile: async (userId) => {
      const sql = `select email, name, organisation, brand_name as "brandName", brand_logo_url as "brandLogoUrl", created_at as "createdAt"
        from users where id = $1`;
      return (await ask<Profile>(sql, [userId]))[0] ?? null;
    },
    saveName: async (userId, name) => void (await ask(SAVE_NAME, [userId, name])),
    saveOrganisation: async (userId, organisation) => void (await ask(SAVE_ORGANISATION, [userId, organisation])),
    saveBrand: async (userId, { name, logoUrl }) => void (await ask(SAVE_BRAND, [userId, name, logoUrl])),
    auditLog: (email, limit) => ask<AuditRow>(AUDIT_LOG, [email, limit]),
    waitlists: async (email) => {
      const rows = await ask<{ service: WaitlistService }>('select service from waitlist where email = $1 order by service', [email]);
      return rows.map(({ service }) => service);
    },
    joinWaitlist: async (email, service) => void (await ask(JOIN_WAITLIST, [service, email])),
    newestBrandedSite: async (email) => {
      const sql = 'select domain from websites where email = $1 and proven_at is not null order by created_at desc limit 1';
      return (await ask<{ domain: string }>(sql, [email]))[0]?.domain ?? null;
    },
  };
}
