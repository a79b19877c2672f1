import type { Platform } from '../platform/platform.ts';
import type { Logos } from '../websites/branding.ts';
import { Accounts, accountEndpoints, Devices, deviceEndpoints } from './accounts.ts';
import { ApiKeys, apiKeyEndpoints } from './api-keys.ts';
import { Applications, applicationEndpoints } from './applications.ts';
import { ApiKeyBearers } from './bearers.ts';
import { Sessions } from './sessions.ts';

/** The accounts of developers, with their sessions, devices, API keys and applications. */
export function createDevelopers(platform: Platform, logos: Logos) {
  const { core, database } = platform;
  const accounts = new Accounts({ database, logos });
  const applications = new Applications(database);
  const bearers = new ApiKeyBearers(database);
  return {
    accounts,
    applications,
    bearers,
    sessions: new Sessions(core),
    endpoints: [
      ...accountEndpoints(accounts),
      ...deviceEndpoints(new Devices(database)),
      ...apiKeyEndpoints(new ApiKeys(database)),
      ...applicationEndpoints(applications),
    ],
    start: () => bearers.start(),
    stop: () => bearers.stop(),
  };
}
