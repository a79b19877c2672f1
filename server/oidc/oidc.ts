import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { SignInPage } from '../../contract/pages.ts';
import { isThisMachine } from '../../contract/rules.ts';
import { openDns } from '../../diagnostics/dns.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { DescribeError } from '../http/errors.ts';
import type { Limits } from '../http/limits.ts';
import { clientAddressOf } from '../http/reading.ts';
import { type Served, serve } from '../http/serve.ts';
import type { Log } from '../log.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { digest, isRandomSecret } from '../secrets.ts';
import { createGuardedFetch } from '../websites/guarded-fetch.ts';
import { isPublicAddress } from '../websites/public-addresses.ts';
import type { RegistrationParts } from './client-registration.ts';
import { OpenIdClients } from './clients.ts';
import { Interactions, type ReadSteps } from './interactions.ts';
import type { ProviderKeys } from './keys.ts';
import { createOpenIdListener, type OpenIdListener } from './listener.ts';
import { ProviderPages } from './pages.ts';
import { OpenIdProvider } from './provider.ts';
import { RecordsStore } from './records-store.ts';

type Parts = {
  config: Config;
  secretKeys: SecretKeys;
  core: Database['core'];
  limits: Pick<Limits, 'hit' | 'refuseBlocked'>;
  /** Multiplies the limits; 100 in local mode. */
  limitFactor: number;
  log: Log;
  events: Pick<EventRecorder, 'record'>;
  describeError: DescribeError;
  keys: ProviderKeys;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
  readSteps: ReadSteps;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

/** OpenID Connect: the provider, its clients and the steps of a person. */
export type OpenId = { provider: OpenIdProvider; clients: OpenIdClients; interactions: Interactions; listener: OpenIdListener };

/** Puts OpenID Connect together. Nothing is loaded or read before the first request. */
export function createOpenId(parts: Parts): OpenId {
  const { config, core, limits, sendPage, headers } = parts;
  const { publicUrl, secure, mode } = config;
  const cookieOf = (request: IncomingMessage, name: 'attempt' | 'device') => {
    const value = parse(request.headers.cookie ?? '')[secure ? `__Host-${name}` : name];
    return isRandomSecret(value) ? value : undefined;
  };
  const deviceOf = (request: IncomingMessage) => {
    const device = cookieOf(request, 'device');
    return device === undefined ? undefined : digest(device);
  };
  const store = new RecordsStore(core);
  const clients = new OpenIdClients({ core, local: mode === 'local' });
  const pages = new ProviderPages(sendPage);
  const local = mode === 'local';
  const usesSystemLookup = (host: string) => local && isThisMachine(host);
  const dns = openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress, usesSystemLookup });
  const registration: RegistrationParts = {
    count: (limit, request) => limits.hit(limit, clientAddressOf(request, config.trustProxy)),
    local,
    fetch: createGuardedFetch({ dns, local }),
  };
  const provider = new OpenIdProvider({
    ...parts,
    publicUrl,
    secure,
    store,
    clients,
    pages,
    deviceOf,
    registration,
    limits: {
      pages,
      limitFactor: parts.limitFactor,
      clientAddressOf: (request) => clientAddressOf(request, config.trustProxy),
      countRejected: async (address) => {
        limits.refuseBlocked('rejected_tokens', address);
        await limits.hit('rejected_tokens', address);
      },
      refuseUserCodes: (address) => limits.refuseBlocked('wrong_user_codes', address),
      countWrongUserCode: (address) => limits.hit('wrong_user_codes', address),
    },
  });
  const interactions = new Interactions({
    publicUrl,
    secure,
    core,
    store,
    sendPage,
    provider: async () => (await provider.current()).provider,
    attemptOf: (request) => cookieOf(request, 'attempt'),
    readSteps: parts.readSteps,
  });
  const listener = createOpenIdListener({ publicUrl, interactions, pages, headers, serving: () => provider.current() });
  return { provider, clients, interactions, listener };
}

/** Binds the calls of OpenID Connect. */
export function openIdRoutes({ interactions }: OpenId): Served[] {
  return [serve('decideInteraction', (input, { header }) => interactions.decide(input, header('cookie')))];
}
