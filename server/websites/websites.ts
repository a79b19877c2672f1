import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Config } from '../config.ts';
import type { Database, Query } from '../db/database.ts';
import type { Limits } from '../http/limits.ts';
import type { Account } from '../http/serve.ts';
import { FIRST_LEASE_SECONDS, type Outbox } from '../mail/outbox.ts';
import { uploadPath } from '../uploads/upload-url.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { createClaimStore } from './claims-store.ts';
import { displayDomainOf, LOCALHOST, registrableOf, rootDomainOf } from './domains.ts';
import { findProof, type ProofOptions, proofFor } from './proof.ts';
import { createWebsiteStore, type Site, type Transaction } from './store.ts';
import { checkUnprovenLimit, withinUnprovenLimit } from './unproven-store.ts';

/** A registration whose linked address never signed in goes after this many days. */
const UNCLAIMED_DAYS = 7;
const RELEASE_BATCH = 500;
/** What one run may take; the next one goes on. */
const RELEASE_MS = 20_000;

export type Websites = ReturnType<typeof createWebsites>;

/**
 * Decides about sites: who may register, see, change, prove and lose a domain.
 * @param parts.inviteOwner mails a new site's linked address, with a sign-in link
 * @param parts.proof where proofs are looked for; unset: the configured name servers and the public internet
 */
export function createWebsites(parts: {
  config: Pick<Config, 'mode' | 'publicUrl' | 'dnsServers'>;
  database: Database;
  outbox: Pick<Outbox, 'handOver'>;
  limits: Pick<Limits, 'hit'>;
  uploads: Pick<Uploads, 'ownIcon'>;
  inviteOwner: (
    owner: { email: string; domain: string; clientAddress: string },
    register: (query: Query) => Promise<unknown>,
  ) => Promise<void>;
  proof?: Partial<ProofOptions>;
}) {
  const { config, outbox, limits, uploads, inviteOwner } = parts;
  const store = createWebsiteStore(parts.database);
  const claims = createClaimStore(parts.database);
  const proofOptions: ProofOptions = { dnsServers: config.dnsServers, ...parts.proof };
  /** Accounts whose proof is being looked for: one at a time, so that nobody makes the service knock at many doors. */
  const proving = new Set<string>();

  // On probation a site shows no icon.
  const iconUrlOf = (site: Site) => (site.icon && site.claimedAt ? uploadPath(site.icon) : null);

  /** Returns websites as their owner sees them. */
  const presentAll = async ({ email }: Account, sites: Site[]): Promise<Output<'listWebsites'>> => {
    const challenges = await claims.obtain(
      email,
      sites.map(({ domain }) => domain),
    );
    return sites.map((site) => ({
      id: site.id,
      domain: site.domain,
      displayDomain: displayDomainOf(site.domain),
      verified: site.provenAt !== null,
      iconUrl: iconUrlOf(site),
      createdAt: site.createdAt.toISOString(),
      proof: proofFor(site.domain, challenges.get(site.domain) as string),
    }));
  };
  const present = async (account: Account, site: Site): Promise<Output<'createWebsite'>> => (await presentAll(account, [site]))[0];
  const challengeOf = async ({ email }: Account, domain: string) => (await claims.obtain(email, [domain])).get(domain) as string;

  return {
    /**
     * Registers a domain, active at once, on probation until its linked address signs in.
     * @throws Fault bad_domain, domain_taken, rate_limited, too_many
     */
    async register(input: Parsed<'registerWebsite'>, clientAddress: string): Promise<Output<'registerWebsite'>> {
      const domain = rootDomainOf(input.domain);
      await limits.hit('registrations', clientAddress);
      await inviteOwner({ email: input.email, domain, clientAddress }, async (query) => {
        await checkUnprovenLimit(query, input.email, { onlyClaimed: false });
        const isNew = await store.register(query, { id: uuid(), domain, email: input.email });
        if (!isNew) throw new Fault('domain_taken', { field: 'domain' });
      });
      return { domain, email: input.email, authUrl: `${config.publicUrl}/auth` };
    },

    /** The registered site of a host or of one of its subdomains. @throws Fault website_not_found */
    async find(host: string): Promise<Output<'findWebsite'>> {
      const domain = registrableOf(host.trim().toLowerCase());
      if (domain === LOCALHOST && config.mode === 'local') return { domain, displayDomain: domain, verified: false, iconUrl: null };
      const site = domain && domain !== LOCALHOST ? await store.byDomain(domain) : null;
      if (!site)
        throw new Fault('website_not_found', { message: 'Email authorisation for this domain is not supported.', field: 'domain' });
      return {
        domain: site.domain,
        displayDomain: displayDomainOf(site.domain),
        verified: site.provenAt !== null,
        iconUrl: iconUrlOf(site),
      };
    },

    async list(account: Account): Promise<Output<'listWebsites'>> {
      return presentAll(account, await store.ofOwner(account.email));
    },

    /** Adds a site of somebody signed in, who is its linked address; it needs no probation. @throws Fault bad_domain, bad_request, domain_taken, rate_limited, too_many */
    async create(account: Account, input: Parsed<'createWebsite'>): Promise<Output<'createWebsite'>> {
      const domain = rootDomainOf(input.domain);
      await limits.hit('registrations', account.email);
      const icon = input.iconUrl ? await uploads.ownIcon(account, input.iconUrl) : null;
      const { email } = account;
      const site = await withinUnprovenLimit(parts.database, { email }, (transaction) =>
        store.add({ id: uuid(), domain, email, icon }, transaction),
      );
      if (!site) throw new Fault('domain_taken', { field: 'domain' });
      return present(account, site);
    },

    /**
     * Moves a site to another domain, unproven until it is proven itself, and changes or drops its icon.
     * Another domain counts as a registration.
     * @throws Fault bad_domain, bad_request, domain_taken, rate_limited, too_many, website_not_found
     */
    async update(account: Account, input: Parsed<'updateWebsite'>): Promise<Output<'updateWebsite'>> {
      const domain = rootDomainOf(input.domain);
      const { email } = account;
      const { id } = input;
      const before = await store.find({ id, email });
      if (!before) throw new Fault('website_not_found');
      const moves = before.domain !== domain;
      if (moves) await limits.hit('registrations', email);
      const icon = input.iconUrl ? await uploads.ownIcon(account, input.iconUrl) : input.iconUrl;
      const change = (transaction?: Transaction) => store.change({ id, email, domain, icon }, transaction);
      const site = await (moves ? withinUnprovenLimit(parts.database, { email, moved: id }, change) : change());
      if (site === 'taken') throw new Fault('domain_taken', { field: 'domain' });
      if (site === 'on_probation')
        throw new Fault('bad_request', {
          field: 'iconUrl',
          message: 'Sign in by email once more to confirm this website; then it can have an icon.',
        });
      if (!site) throw new Fault('website_not_found');
      return present(account, site);
    },

    /** @throws Fault website_not_found */
    async delete(account: Account, id: string): Promise<Output<'deleteWebsite'>> {
      if (!(await store.remove({ id, email: account.email }))) throw new Fault('website_not_found');
      return { success: true };
    },

    /** Returns what an account has to publish to prove that a domain is its own. @throws Fault bad_domain, rate_limited */
    async claim(account: Account, input: string): Promise<Output<'claimWebsite'>> {
      const domain = rootDomainOf(input);
      const known = await claims.find(account.email, domain);
      if (known === null) await limits.hit('domain_claims', account.email);
      return { domain, proof: proofFor(domain, known ?? (await challengeOf(account, domain))) };
    },

    /**
     * Looks for an account's proof and, once found, gives it the domain, whoever registered it. From an address that proved the
     * domain itself only the DNS record takes it: who controls the zone now is its owner now, while a file may be
     * within reach of a site's guests.
     * @throws Fault bad_domain, not_proven, rate_limited
     */
    async prove(account: Account, input: Parsed<'proveWebsite'>): Promise<Output<'proveWebsite'>> {
      const domain = rootDomainOf(input.domain);
      const { email } = account;
      await limits.hit('domain_proofs', email);
      if (proving.has(email)) throw new Fault('rate_limited', { message: 'A proof of yours is being checked already.', retryAfter: 5 });
      proving.add(email);
      try {
        const holder = await store.byDomain(domain);
        const onlyDns = holder !== null && holder.provenAt !== null && holder.email !== email;
        const challenge = await challengeOf(account, domain);
        const kind = await findProof(domain, challenge, onlyDns ? ['dns'] : ['dns', 'file'], proofOptions);
        if (!kind) throw notProven(onlyDns);
        const result = await store.claim({ id: uuid(), domain, email, challenge, kind, leaseSeconds: FIRST_LEASE_SECONDS }, uuid);
        if (result.outcome !== 'yours') throw notProven(result.outcome === 'stronger_needed');
        for (const mail of result.mails) outbox.handOver({ ...mail, language: 'en', data: { domain } });
        return present(account, result.site);
      } finally {
        proving.delete(email);
      }
    },

    /**
     * Removes registrations whose linked address never signed in, seven days after, for 20 s at most.
     * @param query a connection of the timed jobs
     * @returns how many
     */
    async releaseUnclaimed(query: Query): Promise<number> {
      let released = 0;
      for (const end = Date.now() + RELEASE_MS; Date.now() < end; ) {
        const count = await store.releaseUnclaimed(query, UNCLAIMED_DAYS, RELEASE_BATCH);
        released += count;
        if (count < RELEASE_BATCH) break;
      }
      return released;
    },
  };
}

function notProven(onlyDns: boolean): Fault {
  const message = 'Another address has proved this domain. Only the DNS record can take it over, and it was not found yet.';
  return new Fault('not_proven', onlyDns ? { message, field: 'domain' } : { field: 'domain' });
}
