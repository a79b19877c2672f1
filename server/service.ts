import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Router } from 'express';
import { v7 as uuid } from 'uuid';
import { type CallSpec, calls } from '../contract/calls.ts';
import { openDns } from '../diagnostics/dns.ts';
import { eventEndpoints, WebsiteEvents } from './activity/events.ts';
import { logEndpoints, WebsiteLog } from './activity/log.ts';
import { Stats, statsEndpoints } from './activity/stats.ts';
import { createApp } from './app.ts';
import { demoRouter } from './demo/routes.ts';
import { Accounts, accountEndpoints, Devices, deviceEndpoints } from './developers/accounts.ts';
import { ApiKeys, apiKeyEndpoints } from './developers/api-keys.ts';
import { applicationEndpoints } from './developers/applications.ts';
import { brandingPreviewRouter, previewRouter } from './developers/preview-routes.ts';
import { createIdentity } from './developers/sessions.ts';
import { docsRouter, docsSearchEndpoints } from './docs/routes.ts';
import { emailVerificationEndpoints } from './email-verification/email-verification.ts';
import { forwardAuthRouter } from './forward-auth/routes.ts';
import { languageEndpoints } from './languages/languages.ts';
import { inboxRouter } from './mail/inbox-routes.ts';
import { mcpRouter } from './mcp/routes.ts';
import { Connections, connectionEndpoints } from './oidc/grants.ts';
import { openIdEndpoints } from './oidc/oidc.ts';
import { Admin, adminEndpoints } from './operations/admin.ts';
import { Probes } from './operations/probes.ts';
import { Status, statusEndpoints, VERSION } from './operations/status.ts';
import { openApiOf, pagesRouter, wellKnownRouter } from './pages/routes.ts';
import { OwnPasskeys, passkeyEndpoints } from './passkeys/own-passkeys.ts';
import { type Config, isDevelopment } from './platform/config.ts';
import type { Query } from './platform/db/database.ts';
import { cookiesOf } from './platform/http/cookies.ts';
import { createDirectClient, createListener, createMakeCall, type Endpoint, NO_COOKIES, toApiError } from './platform/http/endpoint.ts';
import { challengeOf, type Resource, resourceUri } from './platform/http/errors.ts';
import { type CoreParts, createSignInCore, createSignInPages, type SignInCore } from './sign-in-core.ts';
import { signInEndpoints } from './signin/doors.ts';
import { isPageCall } from './signin/machine.ts';
import { verifyEndpoints } from './signin/verify.ts';
import { brandingEndpoints, Logos, WebsiteBrandings } from './websites/branding.ts';
import { Claims, claimEndpoints } from './websites/claims.ts';
import { isPublicAddress } from './websites/guarded-fetch.ts';
import { Members, memberEndpoints } from './websites/members.ts';
import { WebsiteSearch, websiteSearchEndpoints } from './websites/search.ts';
import { openStorage } from './websites/storage.ts';
import { uploadEndpoints, uploadsRouter } from './websites/upload-routes.ts';
import { createUploadUrls, Uploads } from './websites/uploads.ts';
import { Visitors, visitorEndpoints } from './websites/visitors.ts';
import { Websites, websiteEndpoints } from './websites/websites.ts';

/** Delay after the start of loading what the first requests rarely need: the ORM, and the package that renders emails. */
const PRELOAD_DELAY_MS = 300;

export type Service = {
  listener: RequestListener;
  start(): Promise<void>;
  /** Returns since when emails cannot be sent, and why; null while they are sent. */
  failingMail(): { since: Date; reason: string } | null;
  /** Ends the requests that wait for an event, before `stop`. */
  endWaits(): void;
  stop(): Promise<void>;
  /** Releases registrations that were not claimed. */
  releaseUnclaimed(query: Query): Promise<number>;
  /** Removes icons that no website uses. */
  removeUnneededUploads(query: Query): Promise<number>;
  /** Replaces old signing keys of the OpenID provider, and encrypts all of them with SECRET_KEY. */
  maintainProviderKeys(): Promise<void>;
};

type Parts = CoreParts & {
  /** Mounted before everything else: health and metrics. */
  routers: Router[];
  /** Returns where the service listens; null while it stops. */
  ownAddress(): AddressInfo | null;
};

/** Puts the features together. Every dependency between features is visible here and in sign-in-core.ts. */
export function createService(parts: Parts): Service {
  const core = createSignInCore(parts);
  const portal = createPortal(parts, core);
  const { config, database } = parts;
  const { destinations, outbox, apiKeyBearers, events } = core;
  const { probes, websites, uploads, websiteEvents } = portal;
  return {
    listener: createRequestListener(parts, core, portal),
    start: async () => {
      if (config.mode === 'local') await destinations.addLocalhost(uuid());
      outbox.start();
      probes.start();
      apiKeyBearers.start();
      setTimeout(() => {
        outbox.prepare();
        void database.orm();
      }, PRELOAD_DELAY_MS).unref();
    },
    failingMail: () => outbox.failing(),
    endWaits: () => websiteEvents.stop(),
    stop: async () => {
      probes.stop();
      await Promise.all([outbox.stop(), apiKeyBearers.stop()]);
      await events.stop();
    },
    releaseUnclaimed: (query) => websites.releaseUnclaimed(query),
    removeUnneededUploads: (query) => uploads.removeUnneeded(query),
    maintainProviderKeys: () => core.providerKeys.maintain(),
  };
}

type Portal = ReturnType<typeof createPortal>;

/** What developers and the operator manage, and the status of the service. */
function createPortal(
  { config, secretKeys, database, log, ownAddress }: Parts,
  { outbox, passkeys, requests, limits, statusStore }: SignInCore,
) {
  const uploads = new Uploads({
    database,
    limits,
    urls: createUploadUrls(secretKeys, config.publicUrl),
    storage: openStorage(config),
  });
  const probes = new Probes({ log, store: statusStore, isDelivering: () => outbox.isDelivering(), ownAddress });
  const status = new Status(probes, statusStore);
  const stats = new Stats({ core: database.core, uptime: () => status.uptimePercent(), local: config.mode === 'local' });
  const logos = new Logos({ config, limits });
  return {
    uploads,
    claims: new Claims({ config, database, outbox, limits }),
    websites: new Websites({
      config,
      database,
      limits,
      uploads,
      inviteOwner: (owner, register) => requests.inviteOwner(owner, register),
    }),
    members: new Members({
      database,
      limits,
      inviteMember: (invitation, add) => requests.inviteMember(invitation, add),
    }),
    websiteSearch: new WebsiteSearch({ database, stats }),
    probes,
    status,
    admin: new Admin({ config, secretKeys, development: isDevelopment(config), database, limits, outbox }),
    stats,
    websiteEvents: new WebsiteEvents({ config, database }),
    websiteLog: new WebsiteLog({ config, database }),
    accounts: new Accounts({ database, logos }),
    brandings: new WebsiteBrandings({ database, logos }),
    visitors: new Visitors({ config, database }),
    devices: new Devices(database),
    passkeys: new OwnPasskeys({ config, database, passkeys }),
    apiKeys: new ApiKeys(database),
    connections: new Connections(database),
  };
}

/** Returns every call of the API with its handler. */
function endpointsOf(config: Config, core: SignInCore, portal: Portal): Endpoint[] {
  const endpoints = [
    ...signInEndpoints(core),
    ...verifyEndpoints(core.verifier),
    ...openIdEndpoints(core.openId),
    ...websiteEndpoints(portal.websites),
    ...claimEndpoints(portal.claims),
    ...memberEndpoints(portal.members),
    ...websiteSearchEndpoints(portal.websiteSearch),
    ...brandingEndpoints(portal.brandings),
    ...visitorEndpoints(portal.visitors),
    ...statusEndpoints(portal.status, config),
    ...adminEndpoints(portal.admin),
    ...eventEndpoints(portal.websiteEvents),
    ...logEndpoints(portal.websiteLog),
    ...statsEndpoints(portal.stats),
    ...uploadEndpoints(portal.uploads),
    ...accountEndpoints(portal.accounts),
    ...deviceEndpoints(portal.devices),
    ...passkeyEndpoints(core.passkeys, portal.passkeys),
    ...emailVerificationEndpoints(core.emailVerification),
    ...applicationEndpoints(core.applications),
    ...apiKeyEndpoints(portal.apiKeys),
    ...connectionEndpoints(portal.connections),
    ...languageEndpoints(),
    ...docsSearchEndpoints(config.publicUrl),
  ];
  return endpoints.filter(({ name }) => isDevelopment(config) || !(calls[name] as CallSpec).development);
}

/** Returns the listener for all requests: the API, the pages, and the routers of the features. */
function createRequestListener(parts: Parts, core: SignInCore, portal: Portal): RequestListener {
  const { config, database } = parts;
  const { publicUrl, secure, trustProxy } = config;
  const { headers, web, describeError } = core;
  const local = config.mode === 'local';
  const origins = new Set([publicUrl]);
  const runSettings = {
    describeError,
    countCall: (authorization: string, status: number) => core.apiKeyBearers.answered(authorization, status),
  };
  const identityAt = (resource: Resource) =>
    createIdentity({
      sessions: core.sessions,
      apiKeys: core.apiKeyBearers,
      accessTokens: core.accessTokens,
      resource: resourceUri(publicUrl, resource),
    });
  const identityOf = identityAt('api');
  const accountOf = async (request: IncomingMessage, response: ServerResponse) => {
    const identity = await identityOf(request, cookiesOf(request, response, secure));
    return identity?.by === 'session' ? identity : null;
  };
  const identityOfAssistant = identityAt('mcp');
  const endpoints = endpointsOf(config, core, portal);
  const makeCall = createMakeCall(endpoints, runSettings);
  const openApi = openApiOf(publicUrl);
  const { pages, doors, sendErrorPage } = createSignInPages(parts, core, makeCall);
  return createApp({
    endpoints,
    listenerOf: createListener({
      ...runSettings,
      secure,
      trustProxy,
      origins,
      identityOf,
      challengeOf: (challenge) => challengeOf(publicUrl, 'api', challenge),
      isAdmin: (cookies) => portal.admin.isOpen(cookies),
      varies: isPageCall,
      additionTo: (name, request) => doors.additionTo(name, request),
    }),
    openLink: doors.openLink,
    formAt: (method, path) => doors.formAt(method, path),
    openId: core.openId.listener,
    routers: [
      ...parts.routers,
      previewRouter({
        secure,
        origins,
        accountOf,
        publicUrl,
        mailer: core.mailer,
        accounts: portal.accounts,
      }),
      brandingPreviewRouter({
        publicUrl,
        secure,
        origins,
        accountOf,
        brandings: portal.brandings,
        mailer: core.mailer,
        sendPreview: web.sendSignInPreview,
      }),
      mcpRouter({
        publicUrl,
        origins: config.mcpOrigins,
        trustProxy,
        version: VERSION,
        clientOf: (caller) => createDirectClient(makeCall, caller),
        identityOf: (request) => identityOfAssistant(request, NO_COOKIES),
        describeError,
        headers,
        dns: openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress }),
        countSiteCheck: async ({ identity }) => {
          await core.limits.hit('site_checks', identity?.email ?? '').catch((error) => {
            throw toApiError(describeError(error));
          });
        },
        openApi,
        report: (error, requestId) => describeError(error, 'mcp', requestId).body.reference ?? '',
      }),
      forwardAuthRouter({
        publicUrl,
        local,
        trustProxy,
        headers,
        core: database.core,
        secretKeys: parts.secretKeys,
        verifier: core.verifier,
        log: parts.log,
      }),
      wellKnownRouter({ publicUrl, passkeyOrigins: config.passkeys.origins, headers }),
      docsRouter({ publicUrl, headers: web.headers }),
      uploadsRouter({ uploads: portal.uploads, secure, origins }),
      ...(local ? [demoRouter(config, parts.secretKeys, headers)] : []),
      ...(core.inbox ? [inboxRouter({ inbox: core.inbox, headers })] : []),
      pagesRouter({
        web,
        publicUrl,
        local,
        headers,
        sendSignIn: async (request, response) => {
          web.sendSignIn(response, await pages.read(request, cookiesOf(request, response, secure)));
        },
        hasForm: (path) => doors.formAt('POST', path) !== undefined,
        openApi,
      }),
    ],
    describeError,
    sendErrorPage,
    headers,
  });
}
