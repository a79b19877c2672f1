import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventRecorder } from './activity/recorder.ts';
import { Applications } from './developers/applications.ts';
import { ApiKeyBearers } from './developers/bearers.ts';
import { SessionStore, Sessions } from './developers/sessions.ts';
import { IssuerDiscovery } from './email-verification/discovery.ts';
import { EmailVerification, VerifiedSignInStore } from './email-verification/email-verification.ts';
import { Inbox } from './mail/inbox.ts';
import { Mailer } from './mail/mailer.ts';
import { FIRST_LEASE_SECONDS, Outbox } from './mail/outbox.ts';
import { AccessTokens } from './oidc/access-tokens.ts';
import { ProviderKeys } from './oidc/keys.ts';
import { createOpenId } from './oidc/oidc.ts';
import { StatusStore } from './operations/probes.ts';
import { loadWebApp } from './pages/web-app.ts';
import { Passkeys } from './passkeys/passkeys.ts';
import { PasskeyStore } from './passkeys/store.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/db/database.ts';
import { cookiesOf } from './platform/http/cookies.ts';
import type { MakeCall } from './platform/http/endpoint.ts';
import { createDescribeError, type DescribedError, ErrorLog, errorHeaders } from './platform/http/errors.ts';
import { Limits } from './platform/http/limits.ts';
import { dataHeaders } from './platform/http/protection.ts';
import { clientAddressOf } from './platform/http/reading.ts';
import { requestIdOf } from './platform/http/request-record.ts';
import type { Log } from './platform/log.ts';
import type { SecretKeys } from './platform/secrets.ts';
import { AttemptSecrets, OwnAttempts } from './signin/attempts.ts';
import { SignInCodes } from './signin/code.ts';
import { Destinations } from './signin/destination.ts';
import { SignInDoors } from './signin/doors.ts';
import { describeLink, describePortalLink, SignInLinks } from './signin/link.ts';
import { SignInMachine } from './signin/machine.ts';
import { OAuth } from './signin/oauth.ts';
import { AttemptOpener } from './signin/opener.ts';
import { errorPage, SignInPages, StepsReader, wantsErrorPage } from './signin/pages.ts';
import { PortalSessions } from './signin/portal.ts';
import { QuickLogins } from './signin/quick-login.ts';
import { SignInRequests } from './signin/request.ts';
import { RequestStore } from './signin/request-store.ts';
import { TokenVerifier } from './signin/verify.ts';

/** What the features share. */
export type CoreParts = { config: Config; secretKeys: SecretKeys; database: Database; log: Log };

export type SignInCore = ReturnType<typeof createSignInCore>;

/** Signing in, for visitors and developers, and the emails. */
export function createSignInCore({ config, secretKeys, database, log }: CoreParts) {
  const { core } = database;
  const { publicUrl } = config;
  const limitFactor = config.mode === 'local' ? 100 : 1;
  const events = new EventRecorder(database);
  const limits = new Limits(core, limitFactor);
  const secrets = new AttemptSecrets(secretKeys);
  const store = new RequestStore(core, { limitFactor, mailsPerNetwork: config.mailsPerNetwork, leaseSeconds: FIRST_LEASE_SECONDS });
  const inbox = config.smtpUrl ? null : new Inbox(config);
  const mailer = new Mailer({ ...config, log, deliver: inbox ? (message) => inbox.deliver(message) : undefined });
  const outbox = new Outbox({
    database,
    mailer,
    log,
    secretsOf: (mail) => secrets.ofMail(mail, publicUrl),
    onRefused: (mail) => store.markMailFailed(mail.id),
    onDelayed: async ({ id, kind, recipient, data: { website } }, reason) => {
      if ((kind === 'sign_in' || kind === 'app_sign_in') && website)
        await events.record({ domain: website, kind: 'mail_delayed', reason, email: recipient, mail: id });
    },
    limitFactor,
  });
  const destinations = new Destinations({
    publicUrl,
    local: config.mode === 'local',
    core,
    events,
    waiting: (uid) => openId.interactions.waiting(uid),
  });
  const headers = dataHeaders(config.secure);
  const web = loadWebApp(config);
  const providerKeys = new ProviderKeys({ core, secretKeys, log });
  const statusStore = new StatusStore(core);
  const describeError = createDescribeError(new ErrorLog(log, () => statusStore.ping()));
  const sessions = new Sessions(new SessionStore(core));
  const portalSessions = new PortalSessions(core);
  const openId = createOpenId({
    config,
    secretKeys,
    core,
    limits,
    limitFactor,
    log,
    events,
    describeError,
    keys: providerKeys,
    sendPage: web.sendSignIn,
    readSteps: (cookies, page) => steps.read(cookies, page),
    headers,
  });
  const ownAttempts = new OwnAttempts(core, destinations, limitFactor);
  const quickLogins = new QuickLogins(core, destinations);
  const passkeys = new Passkeys({
    publicUrl,
    rpId: config.passkeys.rpId,
    secretKeys,
    store: new PasskeyStore(core),
    destinations,
    limits,
    secrets,
    outbox,
    log,
  });
  const emailVerification = new EmailVerification({
    publicUrl,
    secretKeys,
    store: new VerifiedSignInStore(core),
    discovery: config.evp && new IssuerDiscovery(config),
    destinations,
    limits,
  });
  const hasInbox = inbox !== null;
  const steps = new StepsReader({ attempts: ownAttempts, sessions, accounts: quickLogins, passkeys, emailVerification, hasInbox });
  const requests = new SignInRequests({ destinations, store, outbox, events });
  const opener = new AttemptOpener({ core, secrets, publicUrl });
  const apiKeyBearers = new ApiKeyBearers(database);
  const applications = new Applications(database);
  return {
    providerKeys,
    accessTokens: new AccessTokens({ core, keys: providerKeys, issuer: publicUrl }),
    events,
    headers,
    web,
    passkeys,
    emailVerification,
    statusStore,
    describeError,
    openId,
    secrets,
    inbox,
    mailer,
    outbox,
    destinations,
    steps,
    ownAttempts,
    limits,
    apiKeyBearers,
    applications,
    requests,
    links: new SignInLinks({ core, secrets, opener, events }),
    codes: new SignInCodes({ core, secrets, opener, events, log, limitFactor }),
    quickLogins,
    sessions,
    portalSessions,
    oauth: new OAuth({ core, publicUrl, requests, sessions: portalSessions, secrets, applications, portal: destinations.ofUrl() }),
    verifier: new TokenVerifier({ core, limits, events, keyOwnerOf: (authorization) => apiKeyBearers.ownerOf(authorization) }),
  };
}

/** Returns the pages of signing in, the ways into them, and the page of an error. */
export function createSignInPages({ config, database }: CoreParts, signIn: SignInCore, makeCall: MakeCall) {
  const { publicUrl, secure, trustProxy } = config;
  const { headers, web, steps, destinations, links, secrets, applications, events, openId, passkeys } = signIn;
  const linkParts = { core: database.core, secrets, applications, events, publicUrl };
  const pages = new SignInPages({
    destinations,
    steps,
    interactionPage: (request, cookies, uid, posted) => openId.interactions.page(request, cookies, uid, posted),
    describeLink: (secret, opening) => describeLink(linkParts, secret, opening),
    describePortalLink: (code, cookies) => describePortalLink(linkParts, code, cookies),
  });
  const doors = new SignInDoors({
    publicUrl,
    origins: new Set([publicUrl]),
    machine: new SignInMachine({ pages, makeCall, links, passkeys }),
    pages,
    forgetKey: (email, device) => signIn.quickLogins.forget(email, device),
    sourceOf: (request, response) => ({
      clientAddress: clientAddressOf(request, trustProxy),
      requestId: requestIdOf(request),
      cookies: cookiesOf(request, response, secure),
      header: (name) => request.headers[name]?.toString(),
    }),
    sendPage: web.sendSignIn,
    headers,
  });
  const sendErrorPage = (request: IncomingMessage, response: ServerResponse, error: DescribedError) => {
    if (!wantsErrorPage(request)) return false;
    for (const [name, value] of Object.entries(errorHeaders(error.fault))) response.setHeader(name, value);
    web.sendSignIn(response, errorPage(request, error), error.fault.status);
    return true;
  };
  return { pages, doors, sendErrorPage };
}
