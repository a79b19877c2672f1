import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { Account } from '../http/serve.ts';
import { createAccountStore, type Profile } from './store.ts';

/** What an account may know of itself. */
export function presentAccount({ id, email, name }: Account): Output<'me'> {
  return { id, email, name };
}

export type Accounts = ReturnType<typeof createAccounts>;

/** An account's own settings, its audit trail and its places on waitlists. */
export function createAccounts(database: Pick<Database, 'orm'>) {
  const store = createAccountStore(database);

  /** @throws Fault sign_in_needed when the account is gone */
  async function settings({ id }: Account): Promise<Output<'settings'>> {
    const profile = await store.profile(id);
    if (!profile) throw new Fault('sign_in_needed');
    return present(profile);
  }

  return {
    settings,

    async saveProfile(account: Account, { name }: Parsed<'saveProfile'>): Promise<Output<'saveProfile'>> {
      await store.saveName(account.id, name);
      return settings(account);
    },

    async saveOrganisation(account: Account, { organisation }: Parsed<'saveOrganisation'>): Promise<Output<'saveOrganisation'>> {
      await store.saveOrganisation(account.id, organisation);
      return settings(account);
    },

    async saveBranding(account: Account, { fromName, logoUrl }: Parsed<'saveBranding'>): Promise<Output<'saveBranding'>> {
      await store.saveBrand(account.id, { name: fromName, logoUrl });
      return settings(account);
    },

    async auditLogs({ email }: Account, limit: number): Promise<Output<'auditLogs'>> {
      const rows = await store.auditLog(email, limit);
      return rows.map(({ createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() }));
    },

    waitlist: async ({ email }: Account): Promise<Output<'waitlist'>> => ({ joined: await store.waitlists(email) }),

    /** Once for each service, however often it is asked. */
    async joinWaitlist({ email }: Account, { service }: Parsed<'joinWaitlist'>): Promise<Output<'joinWaitlist'>> {
      await store.joinWaitlist(email, service);
      return { joined: await store.waitlists(email) };
    },

    /** Returns the domain of the newest website whose mails have the account's branding, or null. */
    newestBrandedSite: ({ email }: Account) => store.newestBrandedSite(email),
  };
}

function present({ email, name, organisation, brandName, brandLogoUrl, createdAt }: Profile): Output<'settings'> {
  return {
    email,
    name: name ?? '',
    organisation,
    plan: 'Free',
    branding: { fromName: brandName, logoUrl: brandLogoUrl },
    createdAt: createdAt.toISOString(),
  };
}
