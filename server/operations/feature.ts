import type { AddressInfo } from 'node:net';
import type { Outbox } from '../mail/outbox.ts';
import type { Platform } from '../platform/platform.ts';
import { Admin, adminEndpoints } from './admin.ts';
import { Probes, StatusStore } from './probes.ts';
import { Status, statusEndpoints } from './status.ts';

type Needs = {
  outbox: Outbox;
  /** Returns where the service listens; null while it stops. */
  ownAddress(): AddressInfo | null;
};

/** What the operator sees and does: the status of the service and the admin pages. */
export function createOperations(platform: Platform, { outbox, ownAddress }: Needs) {
  const { config, core, log } = platform;
  const store = new StatusStore(core);
  const probes = new Probes({ core, log, store, isDelivering: () => outbox.isDelivering(), ownAddress });
  const status = new Status(probes, store);
  const admin = new Admin({ ...platform, outbox });
  return {
    status,
    admin,
    endpoints: [...statusEndpoints(status, config), ...adminEndpoints(admin)],
    start: () => probes.start(),
    stop: () => probes.stop(),
  };
}
