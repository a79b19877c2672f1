import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as main from '../server/main.ts';
import type * as keys from '../server/oidc/keys.ts';
import type * as backup from '../server/operations/backup/backup.ts';
import type * as restore from '../server/operations/backup/restore.ts';
import type * as attach from '../server/operations/embedded/attach.ts';
import type * as operator from '../server/operations/operator-store.ts';
import type * as retention from '../server/operations/retention.ts';
import type * as config from '../server/platform/config.ts';
import type * as examine from '../server/platform/db/examine.ts';
import type * as migrate from '../server/platform/db/migrate.ts';
import type * as secretKey from '../server/platform/db/secret-key.ts';
import type * as sqlFunctions from '../server/signin/sql-functions.ts';
import type { Context } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import { findServer, installDirectory, SERVER_PACKAGE, version } from './installation.ts';
import { requireOwnDataDir } from './own-data-dir.ts';

/** The modules of the service that commands run, by their path in server/. */
type ServerModules = {
  'operations/operator-store': typeof operator;
  'operations/backup/backup': typeof backup;
  'operations/backup/restore': typeof restore;
  'platform/config': typeof config;
  'operations/embedded/attach': typeof attach;
  'platform/db/examine': typeof examine;
  'platform/db/migrate': typeof migrate;
  'platform/db/secret-key': typeof secretKey;
  main: typeof main;
  'oidc/keys': typeof keys;
  'operations/retention': typeof retention;
  'signin/sql-functions': typeof sqlFunctions;
};

/**
 * Loads a module of the service. If the service is not installed, it is installed first, after a confirmation.
 * @throws CommandError foreign_data for ./data of others; server_missing without a terminal and --yes; install_failed; server_damaged; cancelled
 */
export async function importServer<Name extends keyof ServerModules>(context: Context, name: Name): Promise<ServerModules[Name]> {
  requireOwnDataDir(context, { create: name === 'main' || name === 'operations/backup/restore' });
  const modules = findServer(context.env) ?? (await installMissing(context));
  const path = join(modules, `${name}${extname(import.meta.url)}`);
  try {
    return await import(/* @vite-ignore */ pathToFileURL(path).href);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const hint = `Reinstall ${SERVER_PACKAGE} ${version()}; a copy in ${installDirectory(context.env)} can be deleted.`;
    throw new CommandError(EXIT.failure, 'server_damaged', `Files of the service are missing in ${modules}.`, hint, error);
  }
}

async function installMissing(context: Context): Promise<string> {
  const { installServer } = await import('./install-server.ts');
  return installServer(context);
}
