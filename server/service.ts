import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Router } from 'express';
import { v7 as uuid } from 'uuid';
import { openDns } from '../diagnostics/dns.ts';
import { createAbout } from './about/about.ts';
import { aboutRoutes } from './about/routes.ts';
import { createAccounts } from './accounts/accounts.ts';
import { createBrandingPreview } from './accounts/branding-preview.ts';
import { createDevices } from './accounts/devices.ts';
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
import { apiErrorOf, createDirectClient, NO_COOKIES } from './http/direct-client.ts';
import { createErrorLog } from './http/error-log.ts';
import { createAnswerError, createDescribeError } from './http/errors.ts';
import { createIdentity } from './http/identity.ts';
import { createLimits } from './http/limits.ts';
import { loadWebApp } from './http/pages.ts';
import { dataHeaders } from './http/protection.ts';
import { requestSelf } from './http/self-request.ts';
import { createListener } from './http/serve.ts';
import { languageRoutes } from './languages/routes.ts';
import type { Log } from './log.ts';
import { createInbox } from './mail/inbox.ts';
import { inboxRouter } from './mail/inbox-routes.ts';
import { createMailer } from './mail/mailer.ts';
import { createOutbox, FIRST_LEASE_SECONDS } from './mail/outbox.ts';
import { mcpRouter } from './mcp/routes.ts';
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
import { createProbes } from './status/probes.ts';
import { statusRoutes } from './status/routes.ts';
import { createStatus } from './status/status.ts';
import { createStatusStore } from './status/store.ts';
import { bucketStorage } from './uploads/bucket.ts';
import { uploadRoutes, uploadsRouter } from './uploads/routes.ts';
import { diskStorage } from './uploads/storage.ts';
import { createUploadUrls } from './uploads/upload-url.ts';
import { createUploads } from './uploads/uploads.ts';
import { displayDomainOf } from './websites/domains.ts';
import { isPublicAddress } from './websites/public-addresses.ts';
import { websiteRoutes } from './websites/routes.ts';
import { createWebsites } from './websites/websites.ts';

/** Long enough for the start to be over. */
const ORM_DELAY_MS = 300;

export type Service = {
  listener: RequestListener;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** For the job that releases registrations nobody claimed. */
  releaseUnclaimed(query: Query): Promise<number>;
  /** For the job that removes icons nobody shows. */
  removeUnneededUploads(query: Query): Promise<number>;
  outboxDepth(): Promise<number>;
  /** Wrong six-digit codes since the start. */
  wrongCodes(): number;
};

/**
 * Puts the parts together: every dependency between features is visible here.
 * @param parts.routers mounted before the pages: health and metrics
 * @param parts.ownAddress where the service listens; null while it stops
 */
export async function createService(parts: {
  config: Config;
  database: Database;
  log: Log;
  routers?: Router[];
  ownAddress(): AddressInfo | null;
}): Promise<Service> {
  const { config, database, log } = parts;
  const local = config.mode === 'local';
  // Behind a proxy anybody may be the person at this machine.
  const development = local && !config.behindProxy;
  const limitFactor = local ? 100 : 1;

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
  const signin = createSignIn({ publicUrl: config.publicUrl, local, store, accounts, codes, secrets, outbox });
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
  const apiKeyBearers = createApiKeyBearers(database);
  const limits = createLimits(database.core, limitFactor);
  const uploads = createUploads({
    database,
    limits,
    urls: createUploadUrls(config.secretKey, config.publicUrl),
    storage: config.bucket ? bucketStorage(config.bucket) : diskStorage(join(config.dataDir, 'uploads')),
  });
  const websites = createWebsites({ config, database, outbox, limits, uploads, inviteOwner: signin.inviteOwner });

  const statusStore = createStatusStore(database.core);
  const probes = createProbes({
    log,
    ping: statusStore.ping,
    mailsGoOut: outbox.goesOut,
    requestSelf: async (milliseconds) => {
      const address = parts.ownAddress();
      if (address) await requestSelf(address, milliseconds);
    },
    keep: statusStore.keep,
    isStopping: () => parts.ownAddress() === null,
  });
  const status = createStatus({ probes, history: statusStore.history });
  const admin = createAdmin({ config, development, database, limits, outbox });
  const figures = createStats({ database, uptime: status.uptimePercent });

  const account = createAccounts(database);
  const devices = createDevices(database);
  const identityOf = createIdentity(sessions, apiKeyBearers);
  const origins = new Set([config.publicUrl]);
  const preview = previewRouter({
    secure: config.secure,
    origins,
    accountOf: async (request, response) => {
      const identity = await identityOf(request, cookiesOf(request, response, config.secure));
      return identity?.by === 'session' ? identity : null;
    },
    preview: createBrandingPreview({ publicUrl: config.publicUrl, mailer, accounts: account }),
  });

  const describeError = createDescribeError(createErrorLog(log, statusStore.ping));
  const headers = dataHeaders(config.secure);
  const answerError = createAnswerError(describeError, headers);
  const web = loadWebApp(config);
  const about = createAbout(config);
  const served = [
    ...signInRoutes(signin, sessions, limits, apiKeyBearers.ownerOf),
    ...websiteRoutes(websites),
    ...aboutRoutes(about),
    ...statusRoutes(status),
    ...adminRoutes(admin),
    ...statsRoutes(figures),
    ...uploadRoutes(uploads),
    ...accountRoutes(account, devices),
    ...applicationRoutes(applications),
    ...apiKeyRoutes(createApiKeys(database)),
    ...languageRoutes(),
  ];
  let description: Promise<object> | undefined;
  const openApi = () => {
    description ??= import('./http/openapi.ts').then(({ openApiDocument }) => openApiDocument(config.publicUrl, '1.0'));
    return description;
  };
  const mcp = mcpRouter({
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    version: about().version,
    clientOf: createDirectClient({ served, describeError, answered: apiKeyBearers.answered }),
    identityOf: (request) => identityOf(request, NO_COOKIES),
    describeError,
    headers,
    dns: openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress }),
    countSiteCheck: async ({ identity }) => {
      try {
        await limits.hit('site_checks', identity?.email ?? '');
      } catch (error) {
        throw apiErrorOf(error, describeError);
      }
    },
    openApi,
    report: (error) => describeError(error).body.reference ?? '',
  });
  const listener = createApp({
    publicUrl: config.publicUrl,
    local,
    development,
    served,
    listenerOf: createListener({
      secure: config.secure,
      trustProxy: config.trustProxy,
      origins,
      answerError,
      identityOf,
      isAdmin: admin.isOpen,
      answered: apiKeyBearers.answered,
    }),
    openLink: linkListener({
      signin,
      describeLink: (secret) => describeLink({ secrets, accounts, applications, publicUrl: config.publicUrl }, secret),
      visitOf: (request, response) => ({
        clientAddress: clientAddressOf(request, config.trustProxy),
        cookies: cookiesOf(request, response, config.secure),
        header: (name) => request.headers[name]?.toString(),
      }),
      sendPage: web.sendSignIn,
      headers,
    }),
    pageTarget: pageTarget(signin, accounts.registeredSite, displayDomainOf),
    openApi,
    web,
    routers: [
      ...(parts.routers ?? []),
      preview,
      mcp,
      docsRouter({ docs: createDocs(config), headers: web.headers }),
      uploadsRouter({ uploads, secure: config.secure, origins }),
      ...(local ? [demoRouter({ config, headers })] : []),
      ...(inbox ? [inboxRouter({ inbox, headers })] : []),
    ],
    answerError,
    headers,
  });

  return {
    listener,
    start: async () => {
      if (local) await accounts.admitLocalhost(uuid());
      outbox.start();
      probes.start();
      apiKeyBearers.start();
      // Loaded right after the start, so that no request waits for the import.
      setTimeout(() => void database.orm(), ORM_DELAY_MS).unref();
    },
    stop: async () => {
      probes.stop();
      await Promise.all([outbox.stop(), apiKeyBearers.stop()]);
    },
    releaseUnclaimed: websites.releaseUnclaimed,
    removeUnneededUploads: uploads.removeUnneeded,
    outboxDepth: outbox.depth,
    wrongCodes: codes.wrongCodes,
  };
}
