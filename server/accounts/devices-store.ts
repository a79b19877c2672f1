import type { Transaction } from 'sequelize';
import type { Database } from '../db/database.ts';
import { BEGIN_SIGN_OUT } from './locks.ts';

/** A device with a session of the account, or a key by which it is let in again, or both. */
export type DeviceRow = { device: Buffer; label: string | null; current: boolean; signedIn: boolean; createdAt: Date; lastSeen: Date };

type Owner = { id: string; email: string };

type DevicesStore = {
  /** @param session the session that asks, which tells its device; newest use first */
  ofOwner(owner: Owner, session: Buffer): Promise<DeviceRow[]>;
  /** Ends the account's sessions and key on one device. @param deviceId public id @returns whether there was anything to end */
  signOut(owner: Owner, deviceId: string): Promise<boolean>;
  signOutEverywhere(owner: Owner): Promise<void>;
};

// $1 user, $2 address. Lives as session-store.ts and signin/quick-login.ts define them; a key lives for 400 days from the sign-in that made it.
const DEVICES = `
with held as (
  select device, label, hash = $3 as current, true as signed_in, created_at, seen_at
  from sessions where user_id = $1 and client_id is null and expires_at > now() and seen_at > now() - interval '7 days'
  union all
  select device, label, false, false, expires_at - interval '400 days', used_at
  from remembered_keys where email = $2 and verifier <> '' and expires_at > now() and used_at > now() - interval '90 days'
)
select device, (array_agg(label order by seen_at desc) filter (where label is not null))[1] as label,
  bool_or(current) as current, bool_or(signed_in) as "signedIn", min(created_at) as "createdAt", max(seen_at) as "lastSeen"
from held where device is not null group by device
order by bool_or(current) desc, max(seen_at) desc`;

// deviceIdOf of sessions.ts.
const DEVICE_ID = `left(translate(encode(device, 'base64'), '+/', '-_'), 22)`;

/**
 * Ends what the account holds. The rows of keys stay without a verifier: by them the limits know the device. A portal token
 * that is under way would open a session again, so it ends too.
 */
const ended = (sessions: string, keys: string, action: string, always: boolean) => `
with sessions_ended as (delete from sessions where user_id = $1 and ${sessions} returning 1),
keys_ended as (
  update remembered_keys set verifier = '', previous_verifier = null where email = $2 and verifier <> '' and ${keys} returning 1
),
found as (select from sessions_ended union all select from keys_ended),
tokens_ended as (
  delete from tokens where email = $2 and domain is null and used_at is null and ${always ? 'true' : 'exists (select from found)'}
),
audit as (insert into audit_log (action, email) select '${action}', $2::text ${always ? '' : 'where exists (select from found)'})
select exists (select from found) as done`;

const SIGN_OUT = ended(`client_id is null and ${DEVICE_ID} = $3`, `${DEVICE_ID} = $3`, 'device_signed_out', false);
const SIGN_OUT_EVERYWHERE = ended('true', 'true', 'signed_out_everywhere', true);

/** The SQL of an account's devices. Whatever ends here has ended on all instances. */
export function createDevicesStore(database: Pick<Database, 'orm'>): DevicesStore {
  async function ask<Row>(sql: string, bind: unknown[], transaction?: Transaction): Promise<Row[]> {
    const [rows] = await (await database.orm()).query(sql, { bind, transaction });
    return rows as Row[];
  }

  /** A key that is being used, or a portal token, would otherwise let somebody in whom the sign-out does not see yet. */
  const signOut = async ({ id, email }: Owner, sql: string, ...more: string[]): Promise<boolean> =>
    (await database.orm()).transaction(async (transaction) => {
      await ask(BEGIN_SIGN_OUT, [email], transaction);
      return (await ask<{ done: boolean }>(sql, [id, email, ...more], transaction))[0].done;
    });

  return {
    ofOwner: ({ id, email }, session) => ask<DeviceRow>(DEVICES, [id, email, session]),
    signOut: (owner, deviceId) => signOut(owner, SIGN_OUT, deviceId),
    signOutEverywhere: async (owner) => void (await signOut(owner, SIGN_OUT_EVERYWHERE)),
  };
}
