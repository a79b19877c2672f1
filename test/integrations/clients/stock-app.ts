import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPinned } from '../../support/pinned-packages.ts';
import { launch, type RunningSite } from '../templates/site.ts';
import type { StockClient } from './stock-client.ts';

let packages: Promise<string> | undefined;

/** Returns the directory with the npm packages of all apps, in the user's cache; the first call installs them. */
export function stockPackages(): Promise<string> {
  packages ??= installPinned(join(import.meta.dirname, 'packages'), 'openid-connect');
  return packages;
}

/** What an operator pastes into an app. */
export type AppSettings = { issuer: string; clientId: string; clientSecret: string; port: number; caFile: string };

/** Copies the folder of an app and starts it there. */
export async function startStockApp(
  { id, command, debianPackages }: Pick<StockClient, 'id' | 'command' | 'debianPackages'>,
  settings: AppSettings,
): Promise<RunningSite> {
  const directory = await mkdtemp(join(debianPackages ? tmpdir() : await stockPackages(), `emailauth-${id}-`));
  // Apache serves it as another user.
  await chmod(directory, 0o755);
  await cp(join(import.meta.dirname, 'apps', id), directory, { recursive: true });
  // Its own directory is closed to other users.
  const caFile = join(directory, 'ca.pem');
  await cp(settings.caFile, caFile);
  await mkdir(join(directory, 'pages/private'), { recursive: true });
  for (const page of ['pages/index.html', 'pages/private/index.html']) await writeFile(join(directory, page), '<p>A page.</p>');
  const site = await launch(directory, { id, command, env: environmentOf({ ...settings, caFile }) }, settings.port);
  return { ...site, close: () => site.close().then(() => rm(directory, { recursive: true, force: true })) };
}

/** The variables that the apps read, and those by which each language accepts the test's certificate authority. */
export function environmentOf({ issuer, clientId, clientSecret, port, caFile }: AppSettings): Record<string, string> {
  const url = `http://localhost:${port}`;
  const secret = 'x'.repeat(64);
  return {
    ISSUER: issuer,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    APP_URL: url,
    SESSION_SECRET: secret,
    AUTH_SECRET: secret,
    CA_FILE: caFile,
    NODE_EXTRA_CA_CERTS: caFile,
    REQUESTS_CA_BUNDLE: caFile,
    SSL_CERT_FILE: caFile,
  };
}
