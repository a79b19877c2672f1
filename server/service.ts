import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Router } from 'express';
import { v7 as uuid } from 'uuid';
import { type Route, routes } from '../contract/routes.ts';
import { createAccounts } from './accounts/accounts.ts';
import { createBrandingPreview } from './accounts/branding-preview.ts';
import { createDevices } from './accounts/devices.ts';
import { createIdentity } from './accounts/identity.ts';
import { previewRouter } from './accounts/preview-routes.ts';
import { accountRoutes } from './accounts/routes.ts';
import { createAdmin } from './admin/admin.ts';
import { adminRoutes } from './admin/routes.ts';
import { createApiKeys } from './api-keys/api-keys.ts';
import { createApiKeyBearers } from './api-keys/bearers.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { createApp } from './app.ts';
import { createApplications } from './applications/applications.ts';
import { applicationRoutes } from './applications/routes.ts';
import type { Config } from './config.ts';
import type { Database, Query } from './db/database.ts';
import { demoRouter } from './demo/routes.ts';
import { createDocs } from './docs/docs.ts';
import { docsRouter } from './docs/routes.ts';
import { clientAddressOf } from './http/client-address.ts';
import { cookiesOf } from './http/cookies.ts';
import { createDirectClient, NO_COOKIES, toApiError } from './http/direct-client.ts';
import { ErrorLog } from './http/error-log.ts';
import { createDescribeError } from './http/errors.ts';
import { Limits } from './http/limits.ts';
import { createListener } from './http/listener.ts';
import { dataHeaders } from './http/protection.ts';
import type { Served } from './http/serve.ts';
import { languageRoutes } from './languages/languages.ts';
import type { Log } from './log.ts';
import { createInbox } from './mail/inbox.ts';
import { inboxRouter } from './mail/inbox-routes.ts';
import { createMailer } from './mail/mailer.ts';
import { createOutbox, FIRST_LEASE_SECONDS } from './mail/outbox.ts';
import { mcpRouter } from './mcp/routes.ts';
import { pagesRouter } from './pages/routes.ts';
import { loadWebApp } from './pages/web-app.ts';
import { createAccountsStore } from './signin/accounts-store.ts';
import { createApplicationSignInStore } from './signin/application-store.ts';
import { createCodeTries } from './signin/code-tries-store.ts';
import { describeLink } from './signin/link-page.ts';
import { createMailSecrets } from './signin/mail-secrets.ts';
import { linkListener, pageTarget, signInRoutes } from './signin/routes.ts';
import { createSecrets } from './signin/secrets.ts';
import { createSessionStore } from './signin/session-store.ts';
import { createSessions } from './signin/sessions.ts';
import { createSignIn } from './signin/signin.ts';
import { createSignInStore } from './signin/store.ts';
import { statsRoutes } from './stats/routes.ts';
import { createStats } from './stats/stats.ts';
import { Probes } from './status/probes.ts';
import { Status, statusRoutes, VERSION } from './status/status.ts';
import { StatusStore } from './status/store.ts';
import { bucketStorage } from './uploads/bucket.ts';
import { uploadRoutes, uploadsRouter } from './uploads/routes.ts';
import { diskStorage } from './uploads/storage.ts';
import { createUploadUrls } from './uploads/upload-url.ts';
import { createUploads } from './uploads/uploads.ts';
import { displayDomainOf } from './websites/domains.ts';
import { openPublicNames } from './websites/public-names.ts';
import { websiteRoutes } from './websites/routes.ts';
import { createWebsites } from './websites/websites.ts';

/** Delay of loading the ORM after the start, which it would slow down. */
const ORM_DELAY_MS = 300;

export type Service = {
  listener: RequestListener;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Releases registrations that were not claimed. */
  releaseUnclaimed(query: Query): Promise<number>;
  /** Removes icons that no website uses. */
  removeUnneededUploads(query: Query): Promise<number>;
  outboxDepth(): Promise<number>;
  /** Wrong six-digit codes since the start. */
  wrongCodes(): number;
};

type Parts = {
  config: Config;
  database: Database;
  log: Log;
  /** Mounted before everything else: health and metrics. */
  routers: Router[];
  /** Returns where the service listens; null while it stops. */
  ownAddress(): AddressInfo | null;
};

/** Puts the features together. Every dependency between features is visible in this file. */
export function createService(parts: Parts): Service {
  const core = createSignInCore(parts);
  const portal = createPortal(parts, core);
  const { config, database } = parts;
  const { accounts, outbox, codes } = core;
  const { apiKeyBearers, probes, websites, uploads } = portal;
  return {
    listener: createRequestListener(parts, core, portal),
    start: async () => {
      if (config.mode === 'local') await accounts.admitLocalhost(uuid());
      outbox.start();
      probes.start();
      apiKeyBearers.start();
      setTimeout(() => void database.orm(), ORM_DELAY_MS).unref();
    },
    stop: async () => {
      probes.stop();
      await Promise.all([outbox.stop(), apiKeyBearers.stop()]);
    },
    releaseUnclaimed: (query) => websites.releaseUnclaimed(query),
    removeUnneededUploads: (query) => uploads.removeUnneeded(query),
    outboxDepth: () => outbox.depth(),
    wrongCodes: () => codes.wrongCodes(),
  };
}

const limitFactorOf = (config: Config) => (config.mode === 'local' ? 100 : 1);

type SignInCore = ReturnType<typeof createSignInCore>;

/** Signing in, for visitors and developers, and the emails. */
function createSignInCore({ config, database, log }: Parts) {
  const limitFactor = limitFactorOf(config);
  const secrets = createSecrets(config.secretKey);
  const accounts = createAccountsStore(database.core);
  const store = createSignInStore(database.core, { limitFactor, mailLeaseSeconds: FIRST_LEASE_SECONDS });
  const inbox = config.smtpUrl ? null : createInbox(config);
  const mailer = createMailer({ ...config, log, deliver: inbox?.deliver });
  const outbox = createOutbox({
    database,
    mailer,
    log,
    secretsOf: createMailSecrets(secrets, config.publicUrl),
    onRefused: (mail) => accounts.markMailFailed(mail.id),
    limitFactor,
  });
  const codes = createCodeTries(database.core, { limitFactor, log });
  const signin = createSignIn({
    publicUrl: config.publicUrl,
    local: config.mode === 'local',
    store,
    accounts,
    codes,
    secrets,
    outbox,
  });
  const applications = createApplications(database);
  const applicationSignIns = createApplicationSignInStore(database.core);
  const sessions = createSessions({
    publicUrl: config.publicUrl,
    signin,
    store: createSessionStore(database.core),
    secrets,
    applications,
    applicationSignIns,
  });
  return { secrets, accounts, inbox, mailer, outbox, codes, signin, applications, sessions };
}

type Portal = ReturnType<typeof createPortal>;

/** What developers and the operator manage, and the status of the service. */
function createPortal({ config, database, log, ownAddress }: Parts, { outbox, signin }: SignInCore) {
  const limits = new Limits(database.core, limitFactorOf(config));
  const uploads = createUploads({
    database,
    limits,
    urls: createUploadUrls(config.secretKey, config.publicUrl),
    storage: config.bucket ? bucketStorage(config.bucket) : diskStorage(join(config.dataDir, 'uploads')),
  });
  const websites = createWebsites({ config, database, outbox, limits, uploads, inviteOwner: signin.inviteOwner });
  const statusStore = new StatusStore(database.core);
  const probes = new Probes({ log, store: statusStore, mailsGoOut: () => outbox.goesOut(), ownAddress });
  const status = new Status(probes, statusStore);
  return {
    limits,
    uploads,
    websites,
    statusStore,
    probes,
    status,
    admin: createAdmin({ config, development: isDevelopment(config), database, limits, outbox }),
    stats: createStats({ database, uptime: () => status.uptimePercent() }),
    account: createAccounts(database),
    devices: createDevices(database),
    apiKeys: createApiKeys(database),
    apiKeyBearers: createApiKeyBearers(database),
  };
}

/** Returns whether the development calls exist. Behind a proxy, requests from this machine can come from anyone. */
function isDevelopment(config: Config): boolean {
  return config.mode === 'local' && !config.behindProxy;
}

/** Returns every call of the API with its handler. */
function servedCalls(config: Config, core: SignInCore, portal: Portal): Served[] {
  const served = [
    ...signInRoutes(core.signin, core.sessions, portal.limits, portal.apiKeyBearers.ownerOf),
    ...websiteRoutes(portal.websites),
    ...statusRoutes(portal.status, config),
    ...adminRoutes(portal.admin),
    ...statsRoutes(portal.stats),
    ...uploadRoutes(portal.uploads),
    ...accountRoutes(portal.account, portal.devices),
    ...applicationRoutes(core.applications),
    ...apiKeyRoutes(portal.apiKeys),
    ...languageRoutes(),
  ];
  return served.filter(({ name }) => isDevelopment(config) || !(routes[name] as Route).development);
}

/** Returns the listener for all requests: the API, the pages, and the routers of the features. */
function createRequestListener(parts: Parts, core: SignInCore, portal: Portal): RequestListener {
  const { config, log } = parts;
  const { publicUrl, secure, trustProxy } = config;
  const { signin, accounts, applications, secrets } = core;
  const local = config.mode === 'local';
  const headers = dataHeaders(secure);
  const origins = new Set([publicUrl]);
  const web = loadWebApp(config);
  const describeError = createDescribeError(new ErrorLog(log, () => portal.statusStore.ping()));
  const invokeSettings = {
    describeError,
    countCall: (authorization: string, status: number) => portal.apiKeyBearers.answered(authorization, status),
  };
  const identityOf = createIdentity(core.sessions, portal.apiKeyBearers);
  const served = servedCalls(config, core, portal);
  const openApi = openApiOf(publicUrl);
  return createApp({
    served,
    listenerOf: createListener({
      ...invokeSettings,
      secure,
      trustProxy,
      origins,
      identityOf,
      isAdmin: (cookies) => portal.admin.isOpen(cookies),
    }),
    openLink: linkListener({
      signin,
      describeLink: (secret) => describeLink({ secrets, accounts, applications, publicUrl }, secret),
      visitOf: (request, response) => ({
        clientAddress: clientAddressOf(request, trustProxy),
        cookies: cookiesOf(request, response, secure),
        header: (name) => request.headers[name]?.toString(),
      }),
      sendPage: web.sendSignIn,
      headers,
    }),
    routers: [
      ...parts.routers,
      previewRouter({
        secure,
        origins,
        accountOf: async (request, response) => {
          const identity = await identityOf(request, cookiesOf(request, response, secure));
          return identity?.by === 'session' ? identity : null;
        },
        preview: createBrandingPreview({ publicUrl, mailer: core.mailer, accounts: portal.account }),
      }),
      mcpRouter({
        publicUrl,
        trustProxy,
        version: VERSION,
        clientOf: createDirectClient(served, invokeSettings),
        identityOf: (request) => identityOf(request, NO_COOKIES),
        describeError,
        headers,
        names: openPublicNames(config),
        countSiteCheck: async ({ identity }) => {
          await portal.limits.hit('site_checks', identity?.email ?? '').catch((error) => {
            throw toApiError(describeError(error));
          });
        },
        openApi,
        report: (error) => describeError(error).body.reference ?? '',
      }),
      docsRouter({ docs: createDocs(config), headers: web.headers }),
      uploadsRouter({ uploads: portal.uploads, secure, origins }),
      ...(local ? [demoRouter(config, headers)] : []),
      ...(core.inbox ? [inboxRouter({ inbox: core.inbox, headers })] : []),
      pagesRouter({
        web,
        publicUrl,
        local,
        headers,
        pageTarget: pageTarget(signin, accounts.registeredSite, displayDomainOf),
        openApi,
      }),
    ],
    describeError,
    headers,
  });
}

/** Returns a function that makes the OpenAPI document at its first call. */
function openApiOf(publicUrl: string): () => Promise<object> {
  let document: Promise<object> | undefined;
  return () => {
    document ??= import('../contract/openapi.ts').then(({ openApiDocument }) => openApiDocument(publicUrl, '1.0'));
    return document;
  };
}
