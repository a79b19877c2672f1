import type { AddressInfo } from 'node:net';
import type { Outbox } from '../mail/outbox.ts';
import type { Job, Platform } from '../platform/platform.ts';
import { Admin, adminEndpoints } from './admin.ts';
import { createAuditExport } from './jobs/audit-export.ts';
import { cleanUpAccounts, cleanUpSignIns } from './jobs/clean-up.ts';
import { Probes, StatusStore } from './probes.ts';
import { Retention } from './retention.ts';
import { Status, statusEndpoints } from './status.ts';

type Needs = {
  outbox: Outbox;
  /** Returns where the service listens; null while it stops. */
  ownAddress(): AddressInfo | null;
};

/** What the operator sees and does: the status of the service and the admin pages, and the jobs that keep the tables small. */
export function createOperations(platform: Platform, { outbox, ownAddress }: Needs) {
  const { config, core, database, log } = platform;
  const store = new StatusStore(core);
  const probes = new Probes({ core, log, store, isDelivering: () => outbox.isDelivering(), ownAddress });
  const status = new Status(probes, store);
  const admin = new Admin({ ...platform, outbox });
  const { retention: kept, printsAuditLog } = config;
  const retention = new Retention({ databaseUrl: database.route.directUrl, config: kept, printsAuditLog, log });
  return {
    status,
    admin,
    endpoints: [...statusEndpoints(status, platform), ...adminEndpoints(admin)],
    jobs: [
      { name: 'clean-up-sign-ins', minute: null, run: cleanUpSignIns },
      { name: 'clean-up-accounts', minute: 23, run: cleanUpAccounts },
      { name: 'maintain-partitions', minute: 29, run: (_, { signal }) => retention.run(signal) },
      ...(printsAuditLog ? [createAuditExport(log)] : []),
    ] satisfies Job[],
    start: () => {
      retention.observe(core);
      probes.start();
    },
    stop: () => probes.stop(),
  };
}
