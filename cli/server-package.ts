import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as operator from '../server/admin/operator-store.ts';
import type * as backup from '../server/backup/backup.ts';
import type * as restore from '../server/backup/restore.ts';
import type * as config from '../server/config.ts';
import type * as attach from '../server/db/attach.ts';
import type * as examine from '../server/db/examine.ts';
import type * as migrate from '../server/db/migrate.ts';
import type * as secretKey from '../server/db/secret-key.ts';
import type * as main from '../server/main.ts';
import type * as keys from '../server/oidc/keys.ts';
import type * as retention from '../server/retention/retention.ts';
import type * as sqlFunctions from '../server/signin/sql-functions.ts';
import type { Context } from './command.ts';
import { requireOwnDataDir } from './data-dir.ts';
import { CommandError, EXIT } from './exit.ts';
import { findServer, installDirectory, SERVER_PACKAGE, version } from './installation.ts';

/** The modules of the service that commands run, by their path in server/. */
type ServerModules = {
  'admin/operator-store': typeof operator;
  'backup/backup': typeof backup;
  'backup/restore': typeof restore;
  config: typeof config;
  'db/attach': typeof attach;
  'db/examine': typeof examine;
  'db/migrate': typeof migrate;
  'db/secret-key': typeof secretKey;
  main: typeof main;
  'oidc/keys': typeof keys;
  'retention/retention': typeof retention;
  'signin/sql-functions': typeof sqlFunctions;
};

/**
 * Loads a module of the service. If the service is not installed, it is installed first, after a confirmation.
 * @throws CommandError foreign_data for ./data of others; server_missing without a terminal and --yes; install_failed; server_damaged; cancelled
 */
export async function importServer<Name extends keyof ServerModules>(context: Context, name: Name): Promise<ServerModules[Name]> {
  requireOwnDataDir(context, { create: name === 'main' || name === 'backup/restore' });
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
