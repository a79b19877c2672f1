import { SessionStore, Sessions } from './accounts/sessions.ts';
import { ApiKeyBearers } from './api-keys/bearers.ts';
import { Applications } from './applications/applications.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { EventRecorder } from './events/recorder.ts';
import { cookiesOf, receivedCookies } from './http/cookies.ts';
import { ErrorLog } from './http/error-log.ts';
import { createDescribeError } from './http/errors.ts';
import { Limits } from './http/limits.ts';
import { dataHeaders } from './http/protection.ts';
import type { Log } from './log.ts';
import { Inbox } from './mail/inbox.ts';
import { Mailer } from './mail/mailer.ts';
import { FIRST_LEASE_SECONDS, Outbox } from './mail/outbox.ts';
import { AccessTokens } from './oidc/access-tokens.ts';
import { ProviderKeys } from './oidc/keys.ts';
import { createOpenId } from './oidc/oidc.ts';
import { loadWebApp, type WebApp } from './pages/web-app.ts';
import { Passkeys } from './passkeys/passkeys.ts';
import { PasskeyStore } from './passkeys/store.ts';
import type { SecretKeys } from './secret-keys.ts';
import { StepsReader } from './sign-in-pages/pages.ts';
import { AttemptSecrets, OwnAttempts } from './signin/attempts.ts';
import { SignInCodes } from './signin/code.ts';
import { SignInLinks } from './signin/link.ts';
import { OAuth } from './signin/oauth.ts';
import { AttemptOpener } from './signin/opener.ts';
import { QuickLogins } from './signin/quick-login.ts';
import { SignInRequests } from './signin/request.ts';
import { RequestStore } from './signin/request-store.ts';
import { Targets } from './signin/target.ts';
import { TokenVerifier } from './signin/verify.ts';
import { StatusStore } from './status/probes.ts';

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
  const store = new RequestStore(core, { limitFactor, leaseSeconds: FIRST_LEASE_SECONDS });
  const inbox = config.smtpUrl ? null : new Inbox(config);
  const mailer = new Mailer({ ...config, log, deliver: inbox ? (message) => inbox.deliver(message) : undefined });
  const outbox = new Outbox({
    database,
    mailer,
    log,
    secretsOf: (mail) => secrets.ofMail(mail, publicUrl),
    onRefused: (mail) => store.markMailFailed(mail.id),
    onDelayed: async ({ kind, recipient, data: { website } }, reason) => {
      if ((kind === 'sign_in' || kind === 'app_sign_in') && website)
        await events.record({ domain: website, kind: 'mail_delayed', reason, email: recipient });
    },
    limitFactor,
  });
  const targets = new Targets({ publicUrl, local: config.mode === 'local', core, events });
  const headers = dataHeaders(config.secure);
  const webApp = loadWebApp(config);
  const providerKeys = new ProviderKeys({ core, secretKeys, log });
  const statusStore = new StatusStore(core);
  const describeError = createDescribeError(new ErrorLog(log, () => statusStore.ping()));
  const sessions = new Sessions(new SessionStore(core));
  const ownAttempts = new OwnAttempts(core);
  const steps = new StepsReader(ownAttempts, sessions);
  const sendSignIn: WebApp['sendSignIn'] = (response, page, status) => {
    const passkey = page.steps && passkeys.ofPage(cookiesOf(response.req, response, config.secure));
    webApp.sendSignIn(response, passkey ? { ...page, passkey } : page, status);
  };
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
    sendPage: sendSignIn,
    readSteps: (request, page) => steps.read(receivedCookies(request, config.secure), page),
    headers,
  });
  const { interactions } = openId;
  const passkeys = new Passkeys({
    publicUrl,
    secretKeys,
    store: new PasskeyStore(core),
    targets,
    interactions,
    limits,
    secrets,
    outbox,
    log,
  });
  const requests = new SignInRequests({ targets, interactions, store, outbox, events });
  const opener = new AttemptOpener(core);
  const apiKeyBearers = new ApiKeyBearers(database);
  const applications = new Applications(database);
  return {
    providerKeys,
    accessTokens: new AccessTokens({ core, keys: providerKeys, issuer: publicUrl }),
    events,
    headers,
    web: { ...webApp, sendSignIn },
    passkeys,
    statusStore,
    describeError,
    openId,
    secrets,
    inbox,
    mailer,
    outbox,
    targets,
    steps,
    ownAttempts,
    limits,
    apiKeyBearers,
    applications,
    requests,
    links: new SignInLinks({ core, secrets, opener, events }),
    codes: new SignInCodes({ core, secrets, opener, events, log, limitFactor }),
    quickLogins: new QuickLogins({ core, targets, interactions }),
    sessions,
    oauth: new OAuth({ core, publicUrl, requests, sessions, secrets, applications }),
    verifier: new TokenVerifier({ core, limits, events, keyOwnerOf: (authorization) => apiKeyBearers.ownerOf(authorization) }),
  };
}
