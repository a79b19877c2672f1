import type { Transaction } from 'sequelize';
import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { REGISTRATION_DAYS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { normalDomain } from '../../contract/rules.ts';
import type { Config } from '../config.ts';
import { type Database, isUniqueViolation, type Query } from '../db/database.ts';
import type { Website } from '../db/models.ts';
import type { Limits } from '../http/limits.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { FIRST_LEASE_SECONDS, type Outbox } from '../mail/outbox.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { findChallenge, grantDomain, obtainChallenges } from './claims-store.ts';
import { displayDomainOf, LOCALHOST, registrableOf, rootDomainOf } from './domains.ts';
import { checkOwner, findManaged, findOwned, managedBy, roleAt } from './managers.ts';
import { iconUrlOf, presentWebsite, presentWebsites } from './presentation.ts';
import { findProof, type ProofOptions, proofFor } from './proof.ts';
import { checkUnprovenLimit, queryOf, registerWebsite, releaseUnclaimed } from './registrations-store.ts';

const RELEASE_BATCH = 500;
/** How long one run of the release may take; the next one continues. */
const RELEASE_MS = 20_000;

type Parts = {
  config: Pick<Config, 'mode' | 'publicUrl' | 'dnsServers'>;
  database: Database;
  outbox: Pick<Outbox, 'handOver'>;
  limits: Pick<Limits, 'hit'>;
  uploads: Pick<Uploads, 'ownIcon'>;
  /** Emails a sign-in link to the linked address of a new website. */
  inviteOwner: (
    owner: { email: string; domain: string; clientAddress: string; userAgent: string },
    register: (query: Query) => Promise<unknown>,
  ) => Promise<void>;
  /** Where proofs are searched; by default with the configured name servers and on the public internet. */
  proof?: Partial<ProofOptions>;
};

/** The registered websites: who may register, see, change, prove and lose a domain. */
export class Websites {
  readonly #parts: Parts;
  readonly #proofOptions: ProofOptions;
  /** Addresses whose proof is being searched: one search at a time, so that nobody has the service connect to many hosts. */
  readonly #proving = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#proofOptions = { dnsServers: parts.config.dnsServers, ...parts.proof };
  }

  /**
   * Registers a domain, which works at once, on probation until its linked address signs in.
   * @throws Fault bad_domain, domain_taken, rate_limited, too_many
   */
  async register(
    input: Parsed<'registerWebsite'>,
    { clientAddress, userAgent }: { clientAddress: string; userAgent: string },
  ): Promise<Output<'registerWebsite'>> {
    const { config, limits, inviteOwner } = this.#parts;
    const { email } = input;
    const domain = rootDomainOf(input.domain);
    await limits.hit('registrations', clientAddress);
    await inviteOwner({ email, domain, clientAddress, userAgent }, async (query) => {
      await checkUnprovenLimit(query, email, { onlyClaimed: false });
      if (!(await registerWebsite(query, { id: uuid(), domain, email }))) throw domainTaken();
    });
    return { domain, email, authUrl: `${config.publicUrl}/auth` };
  }

  /** Returns the registered website of a host or of one of its subdomains. @throws Fault website_not_found */
  async find(host: string): Promise<Output<'findWebsite'>> {
    const domain = registrableOf(host.trim().toLowerCase());
    if (domain === LOCALHOST && this.#parts.config.mode === 'local')
      return { domain, displayDomain: domain, verified: false, iconUrl: null };
    const website = domain && domain !== LOCALHOST ? await this.#byDomain(domain) : null;
    if (!website)
      throw new Fault('website_not_found', { message: 'Email authorisation for this domain is not supported.', field: 'domain' });
    return {
      domain: website.domain,
      displayDomain: displayDomainOf(website.domain),
      verified: website.provenAt !== null,
      iconUrl: iconUrlOf(website),
    };
  }

  async list(account: Account): Promise<Output<'listWebsites'>> {
    const { sequelize, Website } = await this.#parts.database.orm();
    const websites = await Website.findAll({
      where: sequelize.literal(managedBy('"Website"', ':email')),
      replacements: { email: account.email },
      order: [
        ['createdAt', 'desc'],
        ['id', 'desc'],
      ],
      raw: true,
    });
    return presentWebsites(this.#parts.database, account, websites);
  }

  /** Returns a website that the account manages, by its domain. @throws Fault website_not_found */
  async read(account: Account, domain: string): Promise<Output<'readWebsite'>> {
    const found = await this.#byDomain(normalDomain(domain) ?? '');
    if (!found) throw new Fault('website_not_found');
    const { website } = await findManaged(await this.#parts.database.orm(), account.email, found.id);
    return presentWebsite(this.#parts.database, account, website);
  }

  /**
   * Adds a website of a signed-in account, whose address is the linked one; it is not on probation.
   * @throws Fault bad_domain, bad_request, domain_taken, rate_limited, too_many
   */
  async create(account: Account, input: Parsed<'createWebsite'>): Promise<Output<'createWebsite'>> {
    const { database, limits, uploads } = this.#parts;
    const { email } = account;
    const domain = rootDomainOf(input.domain);
    await limits.hit('registrations', email);
    const icon = input.iconUrl ? await uploads.ownIcon(account, input.iconUrl) : null;
    const { sequelize, time, Website } = await database.orm();
    const website = await this.#change(async (transaction) => {
      await checkUnprovenLimit(queryOf(sequelize, transaction), email, { onlyClaimed: true });
      const added = await Website.create({ id: uuid(), domain, email, icon, claimedAt: time('now()') }, { transaction });
      await this.#audit('website_added', added, transaction);
      return added;
    });
    return presentWebsite(database, account, website);
  }

  /**
   * Moves a website to another domain, which is then unproven, and changes or removes its icon. Only an owner may move it; a move counts
   * as a registration, and withdraws the invitations that were not accepted.
   * @throws Fault bad_domain, bad_request, domain_taken, owner_needed, rate_limited, too_many, website_not_found
   */
  async update(account: Account, input: Parsed<'updateWebsite'>): Promise<Output<'updateWebsite'>> {
    const { database, limits, uploads } = this.#parts;
    const { email } = account;
    const { id } = input;
    const domain = rootDomainOf(input.domain);
    const orm = await database.orm();
    const before = await findManaged(orm, email, id);
    const isMove = before.website.domain !== domain;
    if (isMove) {
      checkOwner(before);
      await limits.hit('registrations', email);
    }
    const icon = input.iconUrl ? await uploads.ownIcon(account, input.iconUrl) : input.iconUrl;
    const website = await this.#change(async (transaction) => {
      const { linkedAddress } = before;
      if (isMove) await checkUnprovenLimit(queryOf(orm.sequelize, transaction), linkedAddress, { onlyClaimed: true, except: id });
      const managed = await findManaged(orm, email, id, transaction);
      const { website: changed } = managed;
      const previous = changed.domain;
      if (previous !== domain) checkOwner(managed);
      if (icon && changed.claimedAt === null) throw onProbation();
      if (icon !== undefined) changed.icon = icon;
      if (previous !== domain) changed.set({ domain, provenAt: null, movedAt: orm.time('now()') });
      if (!changed.changed()) return changed;
      await changed.save({ transaction });
      await this.#audit('website_changed', { email, domain }, transaction);
      if (previous !== domain) await this.#endUse(changed, previous, transaction);
      return changed;
    });
    return presentWebsite(database, account, website);
  }

  /** @throws Fault owner_needed, website_not_found */
  async delete({ email }: Account, id: string): Promise<Output<'deleteWebsite'>> {
    const orm = await this.#parts.database.orm();
    await this.#change(async (transaction) => {
      const { website, linkedAddress } = await findOwned(orm, email, id, transaction);
      await website.destroy({ transaction });
      await this.#audit('website_deleted', { email, domain: website.domain }, transaction);
      await this.#endClaim(website.domain, linkedAddress, transaction);
    });
    return { success: true };
  }

  /**
   * Returns what an account has to publish to prove that it controls a domain. For a website that it manages, this is the proof of the
   * linked address.
   * @throws Fault bad_domain, rate_limited
   */
  async claim(account: Account, input: string): Promise<Output<'claimWebsite'>> {
    const { database, limits } = this.#parts;
    const domain = rootDomainOf(input);
    const { email } = await this.#claimantOf(account, domain);
    const known = await findChallenge(database.core, email, domain);
    if (known === null) await limits.hit('domain_claims', account.email);
    return { domain, proof: proofFor(domain, known ?? (await this.#challengeOf(email, domain))) };
  }

  /**
   * Searches an account's proof and, if it is found, gives it the domain, also when another address registered it. A website that the
   * account manages stays with its linked address, whose proof is searched. If another address
   * proved the domain, only the DNS record counts: it shows who controls the zone now, while a file can be written by
   * others who publish on the site.
   * @throws Fault bad_domain, not_proven, rate_limited
   */
  async prove(account: Account, input: Parsed<'proveWebsite'>): Promise<Output<'proveWebsite'>> {
    const { database, limits, outbox } = this.#parts;
    const domain = rootDomainOf(input.domain);
    await limits.hit('domain_proofs', account.email);
    if (this.#proving.has(account.email))
      throw new Fault('rate_limited', { message: 'A proof of yours is being checked already.', retryAfter: 5 });
    this.#proving.add(account.email);
    try {
      const { email, holder } = await this.#claimantOf(account, domain);
      const needsDns = holder !== null && holder.provenAt !== null && holder.email !== email;
      const challenge = await this.#challengeOf(email, domain);
      const kind = await findProof(domain, challenge, needsDns ? ['dns'] : ['dns', 'file'], this.#proofOptions);
      if (!kind) throw notProven(needsDns);
      const claim = { id: uuid(), domain, email, challenge, kind, leaseSeconds: FIRST_LEASE_SECONDS };
      const result = await grantDomain(database.core, claim, uuid);
      if (result.status !== 'granted') throw notProven(result.status === 'dns_needed');
      for (const mail of result.mails) outbox.handOver({ ...mail, language: 'en', data: { domain } });
      return presentWebsite(database, account, result.website);
    } finally {
      this.#proving.delete(account.email);
    }
  }

  /**
   * Deletes registrations whose linked address did not sign in within seven days; takes at most 20 s.
   * @param query a connection of the timed jobs
   * @returns their number
   */
  async releaseUnclaimed(query: Query): Promise<number> {
    let released = 0;
    for (const end = Date.now() + RELEASE_MS; Date.now() < end; ) {
      const count = await releaseUnclaimed(query, REGISTRATION_DAYS, RELEASE_BATCH);
      released += count;
      if (count < RELEASE_BATCH) break;
    }
    return released;
  }

  async #byDomain(domain: string) {
    const { Website } = await this.#parts.database.orm();
    return Website.findOne({ where: { domain }, raw: true });
  }

  /** Returns the website of a domain, and the address that a proof of the account is for: the linked one, if it manages the website. */
  async #claimantOf(account: Account, domain: string) {
    const holder = await this.#byDomain(domain);
    const role = holder && (await roleAt(await this.#parts.database.orm(), holder, account.email));
    return { holder, email: (role && holder.email) || account.email };
  }

  /** Runs a change in a transaction. @throws Fault domain_taken */
  async #change<Result>(change: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const { sequelize } = await this.#parts.database.orm();
    try {
      return await sequelize.transaction(change);
    } catch (error) {
      throw isUniqueViolation(error) ? domainTaken() : error;
    }
  }

  /** @param by.email the account that made the change */
  async #audit(action: string, { email, domain }: { email: string | null; domain: string }, transaction: Transaction): Promise<void> {
    const { AuditEntry } = await this.#parts.database.orm();
    await AuditEntry.create({ action, email, domain }, { transaction });
  }

  /** Ends the claim of an address that loses a domain: what it published proves nothing from now on. */
  async #endClaim(domain: string, email: string, transaction: Transaction): Promise<void> {
    const { DomainClaim } = await this.#parts.database.orm();
    await DomainClaim.destroy({ where: { domain, email }, transaction });
  }

  /** Ends what was granted for a domain that a website no longer has: the claim of its linked address, and pending invitations. */
  async #endUse({ id, email }: Website, domain: string, transaction: Transaction): Promise<void> {
    const { WebsiteMember } = await this.#parts.database.orm();
    await WebsiteMember.destroy({ where: { websiteId: id, joinedAt: null }, transaction });
    if (email) await this.#endClaim(domain, email, transaction);
  }

  async #challengeOf(email: string, domain: string): Promise<string> {
    return (await obtainChallenges(this.#parts.database.core, email, [domain])).get(domain) as string;
  }
}

const domainTaken = () => new Fault('domain_taken', { field: 'domain' });

const onProbation = () =>
  new Fault('bad_request', {
    field: 'iconUrl',
    message: 'Sign in by email once more to confirm this website; then it can have an icon.',
  });

function notProven(needsDns: boolean): Fault {
  const message = 'Another address has proved this domain. Only the DNS record can take it over, and it was not found yet.';
  return new Fault('not_proven', needsDns ? { message, field: 'domain' } : { field: 'domain' });
}

export function websiteRoutes(websites: Websites): Served[] {
  return [
    serve('registerWebsite', (input, { clientAddress, header }) =>
      websites.register(input, { clientAddress, userAgent: header('user-agent') ?? '' }),
    ),
    serve('findWebsite', ({ domain }) => websites.find(domain)),
    serve('listWebsites', (_, { account }) => websites.list(account)),
    serve('readWebsite', ({ domain }, { account }) => websites.read(account, domain)),
    serve('createWebsite', (input, { account }) => websites.create(account, input)),
    serve('updateWebsite', (input, { account }) => websites.update(account, input)),
    serve('deleteWebsite', ({ id }, { account }) => websites.delete(account, id)),
    serve('claimWebsite', ({ domain }, { account }) => websites.claim(account, domain)),
    // Name servers and sites may take their time to respond.
    serve('proveWebsite', (input, { account }) => websites.prove(account, input), { timeoutSeconds: 15 }),
  ];
}
