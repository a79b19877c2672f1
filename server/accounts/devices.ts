import type { Transaction } from 'sequelize';
import { Fault } from '../../contract/errors.ts';
import type { Output } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import { bearerOf } from '../http/reading.ts';
import { type Account, type Caller, type Served, serve } from '../http/serve.ts';
import { digest } from '../secrets.ts';
import { clearSession } from './browser.ts';
import { deviceIdOf } from './sessions.ts';
import { BEGIN_SIGN_OUT, END_PROVIDER_ACCESS, endProviderSessions } from './sign-outs.ts';

/** A session or a key of the account on a device. */
type Use = { device: Buffer | null; label: string | null; current: boolean; signedIn: boolean; createdAt: Date; lastSeen: Date };
type Device = Output<'listDevices'>[number];

/** The verifier of a void key. */
const VOID = Buffer.alloc(0);
/** A key expires so long after the sign-in that issued it. */
const KEY_MS = 400 * 86_400_000;
/** `deviceIdOf` of accounts/sessions.ts as SQL. */
const DEVICE_ID = `left(encode(device, 'hex'), 32)`;

const END_ON_DEVICE = endProviderSessions(`k.email = $1 and ${DEVICE_ID} = $2`);

/** The devices on which an account is signed in or remembered. What is ended here has ended on all instances. */
export class Devices {
  readonly #database: Pick<Database, 'orm'>;

  constructor(database: Pick<Database, 'orm'>) {
    this.#database = database;
  }

  /** Returns the present device first, then the others by their last use. @param session the secret of the caller's session */
  async list({ id, email }: Account, session: string): Promise<Output<'listDevices'>> {
    const { Op, time, RememberedKey, Session } = await this.#database.orm();
    const after = (sql: string) => ({ [Op.gt]: time(sql) });
    // signin/quick-login.ts and accounts/sessions.ts accept sessions and keys for the same times.
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

  /** Ends all sessions and keys of the account, and the grants and tokens of applications. */
  async signOutEverywhere(account: Account): Promise<Output<'signOutEverywhere'>> {
    await this.#signOut(account, async (transaction) => {
      const { sequelize, Session } = await this.#database.orm();
      await Session.destroy({ where: { userId: account.id }, transaction });
      await sequelize.query(END_PROVIDER_ACCESS, { bind: [account.email], transaction });
      await this.#voidKeys(account, {}, transaction);
      return 'signed_out_everywhere';
    });
    return { success: true };
  }

  /** Runs `end`, which returns the action for the audit log, while no session, key or token of the account is being issued. */
  async #signOut({ email }: Account, end: (transaction: Transaction) => Promise<string>): Promise<void> {
    const { sequelize, AuditEntry, Token } = await this.#database.orm();
    await sequelize.transaction(async (transaction) => {
      await sequelize.query(BEGIN_SIGN_OUT, { bind: [email], transaction });
      const action = await end(transaction);
      // An unused token for the portal would open a new session.
      await Token.destroy({ where: { email, domain: null, usedAt: null }, transaction });
      await AuditEntry.create({ action, email }, { transaction });
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

export function deviceRoutes(devices: Devices): Served[] {
  return [
    serve('listDevices', (_, caller) => devices.list(caller.account, sessionOf(caller))),
    serve('signOutDevice', ({ id }, { account }) => devices.signOut(account, id)),
    serve('signOutEverywhere', async (_, { account, cookies }) => {
      const done = await devices.signOutEverywhere(account);
      clearSession(cookies);
      return done;
    }),
  ];
}

/** Returns the secret of the session that a person's call came with. */
function sessionOf({ header, cookies }: Pick<Caller, 'header' | 'cookies'>): string {
  return bearerOf(header('authorization')) ?? cookies.get('sid') ?? '';
}
