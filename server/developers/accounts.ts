import { domainToASCII } from 'node:url';
import type { Transaction } from 'sequelize';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { raiseGenerations } from '../permissions/conditions.ts';
import { beginChange } from '../permissions/proofs.ts';
import { BEGIN_SIGN_OUT, END_PROVIDER_ACCESS, endProviderSessions } from '../permissions/sign-outs.ts';
import { type Database, isUniqueViolation, queryOf } from '../platform/db/database.ts';
import type { User } from '../platform/db/models.ts';
import { type Account, actorOf, type Caller, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { bearerOf } from '../platform/http/reading.ts';
import { digest } from '../platform/secrets.ts';
import type { Logos } from '../websites/branding.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { managedBy } from '../websites/managers.ts';
import { ACTIVE_KEY } from './api-keys.ts';
import { clearSession } from './browser.ts';
import { deviceIdOf } from './sessions.ts';

/** Actions of visitors with the account's address, which are not part of its audit trail. */
const VISITOR_ACTIONS = ['sign_in_requested', 'signed_in', 'address_proven', 'token_verified'];

// The literal actions contain the condition of the index audit_log_account, which continues after the entry $2. The id of the output is a text,
// which does not sort as a number.
const AUDIT_LOG = `
select a.id::text, action, at, domain, object, actor, device, network,
  exists (select from websites w where w.id = a.website_id and w.domain = a.domain and ${managedBy('w', '$1')}) as manages
from audit_log a
where email = $1 and client_id is null and action not in (${VISITOR_ACTIONS.map((action) => `'${action}'`).join(', ')})
  and a.id < coalesce($2::bigint, ${2n ** 63n - 1n}) and ($3::text is null or action ~ $3) and ($4::text is null or strpos(domain, $4) > 0)
  and at >= coalesce($5::timestamptz, '-infinity') and at < coalesce($6::timestamptz, 'infinity')
order by a.id desc limit $7`;

type AuditRow = Omit<Output<'auditLogs'>[number], 'createdAt' | 'displayDomain'> & { at: Date };
type Settings = Pick<User, 'name' | 'organisation' | 'brandName' | 'brandLogoUrl'>;

/** The settings of an account, its audit trail and its places on waitlists. */
export class Accounts {
  readonly #database: Database;
  readonly #logos: Logos;

  constructor({ database, logos }: { database: Database; logos: Logos }) {
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
    const { limit, before, action, from, to } = filter;
    const actions = action ? `^(${action.replaceAll(',', '|')})(_|$)` : null;
    const host = filter.domain ? domainToASCII(filter.domain) || filter.domain.toLowerCase() : null;
    const values = [email, before ?? null, actions, host, from ? dayStart(from) : null, to ? dayStart(to, 1) : null, limit];
    const { rows } = await this.#database.core.query<AuditRow>({ name: 'account-audit-log', text: AUDIT_LOG, values });
    return rows.map(({ at, domain, ...entry }) => ({
      ...entry,
      createdAt: at.toISOString(),
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
        await beginChange(queryOf(sequelize, transaction), account);
        await WaitlistPlace.create({ service, email }, { transaction });
        await AuditEntry.create({ action: 'waitlist_joined', ...actorOf(account), object: service }, { transaction });
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
  async #save(account: Account, settings: Partial<Settings>, action: string): Promise<Output<'settings'>> {
    const { sequelize, AuditEntry, User } = await this.#database.orm();
    return sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(sequelize, transaction), account);
      const user = await User.findByPk(account.id, { lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      if (!user) throw new Fault('sign_in_needed');
      user.set(settings);
      if (user.changed()) {
        await user.save({ transaction });
        await AuditEntry.create({ action, ...actorOf(account) }, { transaction });
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

/** Binds the calls of an account: settings, audit log and waitlists. */
export function accountEndpoints(accounts: Accounts): Endpoint[] {
  return [
    handle('me', (_, { account: { id, email, name } }) => ({ id, email, name })),
    handle('settings', (_, { account }) => accounts.settings(account)),
    handle('saveProfile', (input, { account }) => accounts.saveProfile(account, input)),
    handle('saveOrganisation', (input, { account }) => accounts.saveOrganisation(account, input)),
    // A host of a logo may take its time to respond.
    handle('saveBranding', (input, { account }) => accounts.saveBranding(account, input), { timeoutSeconds: 15 }),
    handle('auditLogs', (filter, { account }) => accounts.auditLogs(account, filter)),
    handle('waitlist', (_, { account }) => accounts.waitlist(account)),
    handle('joinWaitlist', (input, { account }) => accounts.joinWaitlist(account, input)),
  ];
}

/** A session or a key of the account on a device. */
type Use = { device: Buffer | null; label: string | null; current: boolean; signedIn: boolean; createdAt: Date; lastSeen: Date };
type Device = Output<'listDevices'>[number];

/** The verifier of a void key. */
const VOID = Buffer.alloc(0);
/** A key expires so long after the sign-in that issued it. */
const KEY_MS = 400 * 86_400_000;
/** `deviceIdOf` of sessions.ts as SQL. */
const DEVICE_ID = `left(encode(device, 'hex'), 32)`;

const RAISE_GENERATION = raiseGenerations('(select $1::text as email) account');
const END_ON_DEVICE = endProviderSessions(`k.email = $1 and ${DEVICE_ID} = $2`);

/** The devices on which an account is signed in or remembered. What is ended here has ended on all instances. */
export class Devices {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the present device first, then the others by their last use. @param session the secret of the caller's session */
  async list({ id, email }: Account, session: string): Promise<Output<'listDevices'>> {
    const { Op, time, RememberedKey, Session } = await this.#database.orm();
    const after = (sql: string) => ({ [Op.gt]: time(sql) });
    // signin/methods/quick-login.ts and sessions.ts accept sessions and keys for the same times.
    const [sessions, keys] = await Promise.all([
      Session.findAll({
        where: { userId: id, clientId: null, expiresAt: after('now()'), seenAt: after("now() - interval '7 days'") },
        raw: true,
      }),
      RememberedKey.findAll({
        where: { email, verifier: { [Op.ne]: VOID }, expiresAt: after('now()'), usedAt: after("now() - interval '90 days'") },
        raw: true,
      }),
    ]);
    const present = digest(session);
    return devicesOf([
      ...sessions.map(({ hash, seenAt, ...use }) => ({ ...use, current: present.equals(hash), signedIn: true, lastSeen: seenAt })),
      ...keys.map(({ expiresAt, usedAt, device, label }) => {
        const createdAt = new Date(expiresAt.getTime() - KEY_MS);
        return { device, label, current: false, signedIn: false, createdAt, lastSeen: usedAt };
      }),
    ]);
  }

  /** Ends the account's sessions and its key on one device. @param deviceId the public id @throws Fault device_not_found */
  async signOut(account: Account, deviceId: string): Promise<Output<'signOutDevice'>> {
    await this.#signOut(account, async (transaction) => {
      const { sequelize, Op, Session } = await this.#database.orm();
      const onDevice = { [Op.and]: [sequelize.where(sequelize.literal(DEVICE_ID), deviceId)] };
      const sessions = await Session.destroy({ where: { userId: account.id, clientId: null, ...onDevice }, transaction });
      await sequelize.query(END_ON_DEVICE, { bind: [account.email, deviceId], transaction });
      const keys = await this.#voidKeys(account, onDevice, transaction);
      if (sessions + keys === 0) throw new Fault('device_not_found');
      return 'device_signed_out';
    });
    return { success: true };
  }

  /**
   * Ends all sessions and keys of the account, the grants and tokens of applications, and the given API keys and passkeys. One that has
   * ended, or is of another account, is ignored.
   * @returns how many API keys and passkeys it ended
   */
  async signOutEverywhere(account: Account, given: Parsed<'signOutEverywhere'>): Promise<Output<'signOutEverywhere'>> {
    const { id: userId, email } = account;
    const { sequelize, time, ApiKey, AuditEntry, Op, Passkey, Session } = await this.#database.orm();
    const among = (ids: 'all' | string[]) => (ids === 'all' ? {} : { id: ids });
    let ended = { apiKeys: 0, passkeys: 0 };
    await this.#signOut(account, async (transaction) => {
      await Session.destroy({ where: { userId }, transaction });
      await sequelize.query(END_PROVIDER_ACCESS, { bind: [email], transaction });
      await this.#voidKeys(account, {}, transaction);
      const keys = await ApiKey.findAll({
        where: { userId, ...among(given.apiKeys), [Op.and]: [sequelize.literal(ACTIVE_KEY)] },
        // In the order in which calls are counted (bearers.ts), so that the two do not deadlock.
        order: ['id'],
        lock: true,
        transaction,
      });
      await ApiKey.update({ revokedAt: time('now()') }, { where: { id: keys.map(({ id }) => id) }, transaction });
      const passkeys = await Passkey.findAll({ where: { email, ...among(given.passkeys) }, lock: true, transaction });
      await Passkey.destroy({ where: { id: passkeys.map(({ id }) => id) }, transaction });
      const revoked = keys.map(({ name }) => ({ action: 'api_key_revoked', ...actorOf(account), object: name }));
      const removed = passkeys.map(({ name }) => ({ action: 'passkey_removed', ...actorOf(account), object: name }));
      await AuditEntry.bulkCreate([...revoked, ...removed], { transaction });
      ended = { apiKeys: keys.length, passkeys: passkeys.length };
      return 'signed_out_everywhere';
    });
    return { success: true, ...ended };
  }

  /**
   * Runs `end`, which returns the action for the audit log, while nothing is being issued to the account without a new email. What was
   * permitted before is refused after it.
   */
  async #signOut(account: Account, end: (transaction: Transaction) => Promise<string>): Promise<void> {
    const { email } = account;
    const { sequelize, AuditEntry, Token } = await this.#database.orm();
    await sequelize.transaction(async (transaction) => {
      await sequelize.query(BEGIN_SIGN_OUT, { bind: [email], transaction });
      await sequelize.query(RAISE_GENERATION, { bind: [email], transaction });
      const action = await end(transaction);
      // An unused token for the portal would open a new session.
      await Token.destroy({ where: { email, domain: null, usedAt: null }, transaction });
      await AuditEntry.create({ action, ...actorOf(account) }, { transaction });
    });
  }

  /** Voids keys of the account. The rows remain, since the limits recognize the device by them. @returns their number */
  async #voidKeys({ email }: Account, condition: object, transaction: Transaction): Promise<number> {
    const { Op, RememberedKey } = await this.#database.orm();
    const where = { email, verifier: { [Op.ne]: VOID }, ...condition };
    const [count] = await RememberedKey.update({ verifier: VOID, previousVerifier: null }, { where, transaction });
    return count;
  }
}

/** Groups sessions and keys by their device. */
function devicesOf(uses: Use[]): Device[] {
  const newestFirst = uses.toSorted((a, b) => b.lastSeen.getTime() - a.lastSeen.getTime());
  const devices = new Map<string, Device>();
  for (const { device, label, current, signedIn, createdAt, lastSeen } of newestFirst) {
    if (!device) continue;
    const id = deviceIdOf(device);
    const known = devices.get(id);
    const began = createdAt.toISOString();
    devices.set(id, {
      id,
      label: known?.label || label || '',
      current: current || known?.current === true,
      signedIn: signedIn || known?.signedIn === true,
      createdAt: known && known.createdAt < began ? known.createdAt : began,
      lastSeen: known?.lastSeen ?? lastSeen.toISOString(),
    });
  }
  const listed = [...devices.values()].map((device) => ({ ...device, label: device.label || 'Unknown browser' }));
  return listed.sort((a, b) => Number(b.current) - Number(a.current));
}

/** Binds the calls of devices. */
export function deviceEndpoints(devices: Devices): Endpoint[] {
  return [
    handle('listDevices', (_, caller) => devices.list(caller.account, sessionOf(caller))),
    handle('signOutDevice', ({ id }, { account }) => devices.signOut(account, id)),
    handle('signOutEverywhere', async (input, { account, cookies }) => {
      const done = await devices.signOutEverywhere(account, input);
      clearSession(cookies);
      return done;
    }),
  ];
}

/** Returns the secret of the session that a person's call came with. */
function sessionOf({ header, cookies }: Caller): string {
  return bearerOf(header('authorization')) ?? cookies.get('sid') ?? '';
}
