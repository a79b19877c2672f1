import type { Transaction } from 'sequelize';
import { v7 as uuid } from 'uuid';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { REGISTRATION_DAYS } from '../../contract/limits.ts';
import { LOCALHOST, websiteDomain } from '../../contract/urls.ts';
import { beginChange } from '../permissions/proofs.ts';
import { type Database, isUniqueViolation, type Query, queryOf } from '../platform/db/database.ts';
import type { Website } from '../platform/db/models.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Limits } from '../platform/http/limits.ts';
import { displayDomainOf, registrableOf, rootDomainOf } from './domains.ts';
import { canBeGivenBack, checkOwner, findManaged, findOwned, iconUrlOf, managedBy, presentWebsite, presentWebsites } from './managers.ts';
import { checkUnprovenLimit, registerWebsite, releaseUnclaimed } from './store.ts';
import type { Uploads } from './uploads.ts';

const RELEASE_BATCH = 500;
/** How long one run of the release may take; the next one continues. */
const RELEASE_MS = 20_000;

type Parts = {
  isLocal: boolean;
  publicUrl: string;
  database: Database;
  limits: Pick<Limits, 'hit'>;
  uploads: Pick<Uploads, 'ownIcon'>;
  inviteOwner: InviteOwner;
};

/** Emails a sign-in link to the linked address of a new website, together with `register`. */
export type InviteOwner = (
  owner: { email: string; domain: string; clientAddress: string; userAgent: string },
  register: (query: Query) => Promise<unknown>,
) => Promise<void>;

/** The registered websites: who may register, see, change and delete them. */
export class Websites {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Registers a domain, which works at once, on probation until its linked address signs in.
   * @throws Fault bad_domain, domain_taken, rate_limited, too_many
   */
  async register(
    input: Parsed<'registerWebsite'>,
    { clientAddress, userAgent }: { clientAddress: string; userAgent: string },
  ): Promise<Output<'registerWebsite'>> {
    const { publicUrl, limits, inviteOwner } = this.#parts;
    const { email } = input;
    const domain = rootDomainOf(input.domain);
    await limits.hit('registrations', clientAddress);
    await inviteOwner({ email, domain, clientAddress, userAgent }, async (query) => {
      await checkUnprovenLimit(query, email, { onlyOwn: false });
      if (!(await registerWebsite(query, { id: uuid(), domain, email }))) throw domainTaken();
    });
    return { domain, email, authUrl: `${publicUrl}/auth` };
  }

  /** Returns the registered website of a host or of one of its subdomains. @throws Fault website_not_found */
  async find(host: string): Promise<Output<'findWebsite'>> {
    const domain = registrableOf(host.trim().toLowerCase());
    const website = domain && (domain !== LOCALHOST || this.#parts.isLocal) ? await this.#byDomain(domain) : null;
    if (!website)
      throw new Fault('website_not_found', { message: 'Email authorisation for this domain is not supported.', field: 'domain' });
    return {
      domain: website.domain,
      displayDomain: displayDomainOf(website.domain),
      verified: website.provenAt !== null,
      // Anyone can register a domain, and could show the icon of its owner here.
      iconUrl: website.provenAt && iconUrlOf(website),
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
    const found = await this.#byDomain(websiteDomain(domain) ?? '');
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
    const website = await this.#change(account, async (transaction) => {
      await checkUnprovenLimit(queryOf(sequelize, transaction), email, { onlyOwn: true });
      const added = await Website.create({ id: uuid(), domain, email, icon, claimedAt: time('now()') }, { transaction });
      await this.#audit('website_added', account, added, transaction);
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
    const orm = await database.orm();
    const before = await findManaged(orm, email, id);
    // localhost stays, and is no domain to register.
    const domain = input.domain === before.website.domain ? input.domain : rootDomainOf(input.domain);
    const isMove = before.website.domain !== domain;
    if (isMove) {
      checkOwner(before);
      await limits.hit('registrations', email);
    }
    const icon = input.iconUrl ? await uploads.ownIcon(account, input.iconUrl) : input.iconUrl;
    const website = await this.#change(account, async (transaction) => {
      const { linkedAddress } = before;
      if (isMove) await checkUnprovenLimit(queryOf(orm.sequelize, transaction), linkedAddress, { onlyOwn: true, except: id });
      const managed = await findManaged(orm, email, id, transaction);
      const { website: changed } = managed;
      const previous = changed.domain;
      if (previous !== domain) checkOwner(managed);
      if (icon && changed.claimedAt === null) throw onProbation();
      if (icon !== undefined) changed.icon = icon;
      // The owner has chosen the new domain.
      if (previous !== domain) changed.set({ domain, provenAt: null, registeredByOthers: false, domainSince: orm.time('now()') });
      if (!changed.changed()) return changed;
      await changed.save({ transaction });
      await this.#audit('website_changed', account, changed, transaction);
      if (previous !== domain) await this.#endUse(changed, previous, transaction);
      return changed;
    });
    return presentWebsite(database, account, website);
  }

  /** @throws Fault owner_needed, website_not_found */
  async delete(account: Account, id: string): Promise<Output<'deleteWebsite'>> {
    const { email } = account;
    const orm = await this.#parts.database.orm();
    await this.#change(account, async (transaction) => {
      const { website, linkedAddress } = await findOwned(orm, email, id, transaction);
      await website.destroy({ transaction });
      await this.#audit('website_deleted', account, website, transaction);
      await this.#endClaim(website.domain, linkedAddress, transaction);
    });
    return { success: true };
  }

  /**
   * Gives a website back that someone else registered with the account's address. It ends at once, and others can register the domain.
   * @throws Fault not_given_back for one that the account added or proved, website_not_found
   */
  async giveBack(account: Account, id: string): Promise<Output<'giveBackWebsite'>> {
    const { email } = account;
    const orm = await this.#parts.database.orm();
    await this.#change(account, async (transaction) => {
      const { website, linkedAddress } = await findManaged(orm, email, id, transaction);
      if (linkedAddress !== email || !canBeGivenBack(website)) throw new Fault('not_given_back');
      await website.destroy({ transaction });
      await this.#audit('website_given_back', account, website, transaction);
      await this.#endClaim(website.domain, email, transaction);
    });
    return { success: true };
  }

  /**
   * Deletes registrations whose linked address did not sign in within seven days; takes at most 20 s.
   * @param query a connection of the scheduled jobs
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

  /** Runs a change by an account in a transaction. @throws Fault domain_taken, sign_in_needed */
  async #change<Result>(account: Account, change: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const { sequelize } = await this.#parts.database.orm();
    try {
      return await sequelize.transaction(async (transaction) => {
        await beginChange(queryOf(sequelize, transaction), account);
        return change(transaction);
      });
    } catch (error) {
      throw isUniqueViolation(error) ? domainTaken() : error;
    }
  }

  async #audit(action: string, account: Account, { id, domain }: Website, transaction: Transaction): Promise<void> {
    const { AuditEntry } = await this.#parts.database.orm();
    await AuditEntry.create({ action, ...actorOf(account), websiteId: id, domain }, { transaction });
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
}

const domainTaken = () => new Fault('domain_taken', { field: 'domain' });

const onProbation = () =>
  new Fault('bad_request', {
    field: 'iconUrl',
    message: 'Sign in by email once more to confirm this website; then it can have an icon.',
  });

/** Binds the calls of websites. */
export function websiteEndpoints(websites: Websites): Endpoint[] {
  return [
    handle('registerWebsite', (input, { clientAddress, header }) =>
      websites.register(input, { clientAddress, userAgent: header('user-agent') ?? '' }),
    ),
    handle('findWebsite', ({ domain }) => websites.find(domain)),
    handle('listWebsites', (_, { account }) => websites.list(account)),
    handle('readWebsite', ({ domain }, { account }) => websites.read(account, domain)),
    handle('createWebsite', (input, { account }) => websites.create(account, input)),
    handle('updateWebsite', (input, { account }) => websites.update(account, input)),
    handle('deleteWebsite', ({ id }, { account }) => websites.delete(account, id)),
    handle('giveBackWebsite', ({ id }, { account }) => websites.giveBack(account, id)),
  ];
}
