import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Router } from 'express';
import { type CallSpec, calls } from '../contract/calls.ts';
import { createActivity } from './activity/feature.ts';
import { EventRecorder } from './activity/recorder.ts';
import { createApp } from './app.ts';
import { demoRouter } from './demo/routes.ts';
import { createDevelopers } from './developers/feature.ts';
import { createIdentity } from './developers/sessions.ts';
import { docsRouter, docsSearchEndpoints } from './docs/routes.ts';
import { languageEndpoints } from './languages/languages.ts';
import { createMail } from './mail/feature.ts';
import { mcpRouter } from './mcp/routes.ts';
import { createOpenId } from './oidc/oidc.ts';
import { createOperations } from './operations/feature.ts';
import { createPages } from './pages/feature.ts';
import { openApiOf, wellKnownRouter } from './pages/routes.ts';
import { loadWebApp } from './pages/web-app.ts';
import { isDevelopment } from './platform/config.ts';
import { SecretKeyRotation } from './platform/db/secret-key.ts';
import { cookiesOf } from './platform/http/cookies.ts';
import { createDirectClient, createListener, createMakeCall, type Endpoint, NO_COOKIES } from './platform/http/endpoint.ts';
import { type Resource, resourceUri, wwwAuthenticate } from './platform/http/resources.ts';
import { createPlatform, type Feature, type Job, type Platform } from './platform/platform.ts';
import type { WaitingInteractions } from './signin/destination.ts';
import { createSignIn } from './signin/feature.ts';
import { isPageCall } from './signin/machine.ts';
import type { InteractionPages } from './signin/pages.ts';
import { Logos } from './websites/branding.ts';
import { createWebsites } from './websites/feature.ts';

/** Delay after the start of loading what the first requests rarely need: the ORM, and the package that renders emails. */
const PRELOAD_DELAY_MS = 300;

export type Service = {
  listener: RequestListener;
  jobs: readonly Job[];
  start(): Promise<void>;
  /** Returns since when emails cannot be sent, and why; null while they are sent. */
  failingMail(): { since: Date; reason: string } | null;
  /** Ends the requests that wait for an event, before `stop`. */
  endWaits(): void;
  stop(): Promise<void>;
};

type Parts = Parameters<typeof createPlatform>[0] & {
  /** Mounted before everything else: health and metrics. */
  routers: Router[];
  /** Returns where the service listens; null while it stops. */
  ownAddress(): AddressInfo | null;
};

/** Connects the features. Every dependency between them is visible here. */
export function createService(parts: Parts): Service {
  const platform = createPlatform(parts);
  const { config, secretKeys, database, describeError, isLocal, publicUrl, secure, trustProxy, origins, headers } = platform;
  const web = loadWebApp(config);
  const openApi = openApiOf(publicUrl);
  const sendPage = web.sendSignIn;
  const events = new EventRecorder(database);

  const logos = new Logos(platform);
  const developers = createDevelopers(platform, logos);
  const { sessions, bearers } = developers;
  const calling = { describeError, countCall: (authorization: string, status: number) => bearers.countCall(authorization, status) };
  // The functions that name something below are called at the first request, when it exists.
  const makeCall = createMakeCall(() => endpoints, calling);
  const mail = createMail(platform, () => signIn.outboxEvents);
  const { outbox, mailer } = mail;
  const operations = createOperations(platform, { outbox, ownAddress: parts.ownAddress });
  const activity = createActivity(platform, { status: operations.status, outbox });
  const interactions: WaitingInteractions & InteractionPages = {
    waiting: (uid) => openId.interactions.waiting(uid),
    page: (request, cookies, uid, posted) => openId.interactions.page(request, cookies, uid, posted),
  };
  const signIn = createSignIn(platform, { developers, events, mail, interactions, makeCall, sendPage });
  const openId = createOpenId(platform, { events, sendPage, steps: signIn.steps });
  const websites = createWebsites(platform, { outbox, invitations: signIn.requests, logos });

  const identityAt = (resource: Resource) =>
    createIdentity({ sessions, apiKeys: bearers, accessTokens: openId.accessTokens, resource: resourceUri(publicUrl, resource) });
  const identityOf = identityAt('api');
  const identityOfAssistant = identityAt('mcp');
  const accountOf = async (request: IncomingMessage, response: ServerResponse) => {
    const identity = await identityOf(request, cookiesOf(request, response, secure));
    return identity?.credential === 'session' ? identity : null;
  };
  const assistants = mcpRouter({
    ...platform,
    clientOf: (caller) => createDirectClient(makeCall, caller),
    identityOf: (request) => identityOfAssistant(request, NO_COOKIES),
    openApi,
  });
  const pages = createPages(platform, {
    web,
    openApi,
    accountOf,
    signIn,
    mailer,
    accounts: developers.accounts,
    brandings: websites.brandings,
  });

  const metadata = wellKnownRouter(platform);
  const documentation = docsRouter({ publicUrl, headers: web.headers });
  const features: Feature[] = [
    new SecretKeyRotation({ ...platform, encryptAgain: () => openId.maintainKeys() }),
    { routers: [...parts.routers, assistants, metadata] },
    signIn,
    // It has a route for every path outside /api, and Express then responds to OPTIONS: /.well-known, which does so itself, is before it.
    { routers: [documentation], endpoints: docsSearchEndpoints(publicUrl) },
    developers,
    mail,
    operations,
    activity,
    openId,
    websites,
    { endpoints: languageEndpoints(), routers: isLocal ? [demoRouter(config, secretKeys, headers)] : [] },
    pages,
  ];
  const endpoints = servedBy(features, platform);
  return {
    listener: createApp({
      endpoints,
      routers: features.flatMap(({ routers = [] }) => routers),
      doors: signIn.doors,
      openId: openId.listener,
      sendErrorPage: signIn.sendErrorPage,
      describeError,
      headers,
      listenerOf: createListener({
        ...calling,
        secure,
        trustProxy,
        origins,
        identityOf,
        wwwAuthenticate: (challenge) => wwwAuthenticate(publicUrl, 'api', challenge),
        isAdmin: (cookies) => operations.admin.isOpen(cookies),
        varies: isPageCall,
        additionTo: (name, request) => signIn.doors.additionTo(name, request),
      }),
    }),
    jobs: features.flatMap(({ jobs = [] }) => jobs),
    start: async () => {
      for (const feature of features) await feature.start?.();
      setTimeout(() => {
        outbox.prepare();
        void database.orm();
      }, PRELOAD_DELAY_MS).unref();
    },
    failingMail: () => outbox.failing(),
    endWaits: () => activity.endWaits(),
    stop: async () => {
      await Promise.all(features.map((feature) => feature.stop?.()));
      await events.stop();
    },
  };
}

/** Returns every call that the service offers, with its handler. */
const servedBy = (features: readonly Feature[], { config }: Platform): Endpoint[] =>
  features.flatMap(({ endpoints = [] }) => endpoints).filter(({ name }) => isDevelopment(config) || !(calls[name] as CallSpec).development);
