import { Fault } from '../../contract/errors.ts';
import type { Output } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { Account } from '../http/serve.ts';
import { digest } from '../secrets.ts';
import { createDevicesStore } from './devices-store.ts';
import { deviceIdOf } from './sessions.ts';

export type Devices = ReturnType<typeof createDevices>;

/** Where an account is signed in or remembered, and how it ends that. */
export function createDevices(database: Pick<Database, 'orm'>) {
  const store = createDevicesStore(database);
  return {
    /** @param session the secret of the session that asks */
    async list(account: Account, session: string): Promise<Output<'listDevices'>> {
      const rows = await store.ofOwner(account, digest(session));
      return rows.map(({ device, label, current, signedIn, createdAt, lastSeen }) => ({
        id: deviceIdOf(device),
        label: label ?? 'Unknown browser',
        current,
        signedIn,
        createdAt: createdAt.toISOString(),
        lastSeen: lastSeen.toISOString(),
      }));
    },

    /** @throws Fault device_not_found */
    async signOut(account: Account, deviceId: string): Promise<Output<'signOutDevice'>> {
      if (!(await store.signOut(account, deviceId))) throw new Fault('device_not_found');
      return { success: true };
    },

    /** Also ends what applications were given. */
    async signOutEverywhere(account: Account): Promise<Output<'signOutEverywhere'>> {
      await store.signOutEverywhere(account);
      return { success: true };
    },
  };
}
