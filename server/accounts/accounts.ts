import { domainToASCII } from 'node:url';
import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { type Database, isUniqueViolation } from '../db/database.ts';
import type { User } from '../db/models.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import type { Logos } from '../websites/branding.ts';
import { displayDomainOf } from '../websites/domains.ts';

/** Actions of visitors with the account's address, which are not part of its audit trail: the condition of the index audit_log_account. */
const VISITOR_ACTIONS = ['sign_in_requested', 'signed_in', 'signed_in_again', 'token_verified'];

type Settings = Pick<User, 'name' | 'organisation' | 'brandName' | 'brandLogoUrl'>;

/** The settings of an account, its audit trail and its places on waitlists. */
export class Accounts {
  readonly #database: Pick<Database, 'orm'>;
  readonly #logos: Pick<Logos, 'check'>;

  constructor({ database, logos }: { database: Pick<Database, 'orm'>; logos: Pick<Logos, 'check'> }) {
    this.#database = database;
    this.#logos = logos;
  }

  /** @throws Fault sign_in_needed when the account no longer exists */
  async settings({ id }: Account): Promise<Output<'settings'>> {
    const { User } = await this.#database.orm();
    const user = await User.findByPk(id);
    if (!user) throw new Fault('sign_in_needed');
    return present(user);
  }

  saveProfile(account: Account, { name }: Parsed<'saveProfile'>): Promise<Output<'saveProfile'>> {
    return this.#save(account, { name: name || null }, 'profile_changed');
  }

  saveOrganisation(account: Account, { organisation }: Parsed<'saveOrganisation'>): Promise<Output<'saveOrganisation'>> {
    return this.#save(account, { organisation }, 'organisation_changed');
  }

  /** Saves the default branding of the account's websites. A logo URL that changes is loaded first. @throws Fault bad_logo, rate_limited */
  async saveBranding(account: Account, { fromName, logoUrl }: Parsed<'saveBranding'>): Promise<Output<'saveBranding'>> {
    const { branding } = await this.settings(account);
    if (logoUrl !== branding.logoUrl) await this.#logos.check(logoUrl, account.email);
    return this.#save(account, { brandName: fromName, brandLogoUrl: logoUrl }, 'branding_changed');
  }

  /** Returns the account's own actions, newest first; not the sign-ins of visitors with its address, nor what happened at its applications. */
  async auditLogs({ email }: Account, filter: Parsed<'auditLogs'>): Promise<Output<'auditLogs'>> {
    const { limit, before, action, domain, from, to } = filter;
    const { AuditEntry, Op } = await this.#database.orm();
    const entries = await AuditEntry.findAll({
      attributes: ['id', 'action', 'createdAt', 'domain'],
      // Without a condition on the action, the index audit_log_account would not be used.
      where: {
        email,
        clientId: null,
        action: { [Op.notIn]: VISITOR_ACTIONS, ...(action && { [Op.regexp]: `^(${action.replaceAll(',', '|')})(_|$)` }) },
        ...(before && { id: { [Op.lt]: before } }),
        ...(domain && { domain: { [Op.substring]: domainToASCII(domain) || domain.toLowerCase() } }),
        ...((from || to) && { createdAt: { ...(from && { [Op.gte]: dayStart(from) }), ...(to && { [Op.lt]: dayStart(to, 1) }) } }),
      },
      order: [['id', 'desc']],
      limit,
      raw: true,
    });
    return entries.map(({ createdAt, domain, ...entry }) => ({
      ...entry,
      createdAt: createdAt.toISOString(),
      domain,
      displayDomain: domain && displayDomainOf(domain),
    }));
  }

  async waitlist({ email }: Account): Promise<Output<'waitlist'>> {
    const { WaitlistPlace } = await this.#database.orm();
    const places = await WaitlistPlace.findAll({ attributes: ['service'], where: { email }, order: ['service'], raw: true });
    return { joined: places.map(({ service }) => service) };
  }

  /** Joins a waitlist; does nothing when the account is on it. */
  async joinWaitlist(account: Account, { service }: Parsed<'joinWaitlist'>): Promise<Output<'joinWaitlist'>> {
    const { sequelize, AuditEntry, WaitlistPlace } = await this.#database.orm();
    const { email } = account;
    try {
      await sequelize.transaction(async (transaction) => {
        await WaitlistPlace.create({ service, email }, { transaction });
        await AuditEntry.create({ action: 'waitlist_joined', email }, { transaction });
      });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
    }
    return this.waitlist(account);
  }

  /** Returns the domain of the newest website whose emails have the account's branding, or null. */
  async newestBrandedDomain({ email }: Account): Promise<string | null> {
    const { Op, Website } = await this.#database.orm();
    const website = await Website.findOne({
      attributes: ['domain'],
      where: { email, provenAt: { [Op.ne]: null } },
      order: [['createdAt', 'desc']],
    });
    return website?.domain ?? null;
  }

  /** Writes nothing, not even to the audit log, when the settings stay the same. */
  async #save({ id }: Account, settings: Partial<Settings>, action: string): Promise<Output<'settings'>> {
    const { sequelize, AuditEntry, User } = await this.#database.orm();
    return sequelize.transaction(async (transaction) => {
      const user = await User.findByPk(id, { lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      if (!user) throw new Fault('sign_in_needed');
      user.set(settings);
      if (user.changed()) {
        await user.save({ transaction });
        await AuditEntry.create({ action, email: user.email }, { transaction });
      }
      return present(user);
    });
  }
}

/** Returns the start of a UTC day. @param date as YYYY-MM-DD @param plus days to add */
const dayStart = (date: string, plus = 0) => new Date(Date.parse(date) + plus * 86_400_000);

function present({ email, name, organisation, brandName, brandLogoUrl, createdAt }: User): Output<'settings'> {
  return {
    email,
    name: name ?? '',
    organisation,
    plan: 'Free',
    branding: { fromName: brandName, logoUrl: brandLogoUrl },
    createdAt: createdAt.toISOString(),
  };
}

export function accountRoutes(accounts: Accounts): Served[] {
  return [
    serve('me', (_, { account: { id, email, name } }) => ({ id, email, name })),
    serve('settings', (_, { account }) => accounts.settings(account)),
    serve('saveProfile', (input, { account }) => accounts.saveProfile(account, input)),
    serve('saveOrganisation', (input, { account }) => accounts.saveOrganisation(account, input)),
    // A host of a logo may take its time to respond.
    serve('saveBranding', (input, { account }) => accounts.saveBranding(account, input), { timeoutSeconds: 15 }),
    serve('auditLogs', (filter, { account }) => accounts.auditLogs(account, filter)),
    serve('waitlist', (_, { account }) => accounts.waitlist(account)),
    serve('joinWaitlist', (input, { account }) => accounts.joinWaitlist(account, input)),
  ];
}
