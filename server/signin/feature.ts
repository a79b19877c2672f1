import type { IncomingMessage, ServerResponse } from 'node:http';
import { v7 as uuid } from 'uuid';
import type { SignInPage } from '../../contract/pages.ts';
import type { EventRecorder } from '../activity/recorder.ts';
import type { Applications } from '../developers/applications.ts';
import type { ApiKeyBearers } from '../developers/bearers.ts';
import type { Sessions } from '../developers/sessions.ts';
import type { Outbox, OutboxEvents } from '../mail/outbox.ts';
import { type MakeCall, requestSourceOf } from '../platform/http/endpoint.ts';
import { type DescribedError, errorHeaders } from '../platform/http/errors.ts';
import type { Platform } from '../platform/platform.ts';
import { AttemptSecrets, OwnAttempts } from './attempts.ts';
import { Destinations, type WaitingInteractions } from './destination.ts';
import { SignInDoors, signInEndpoints } from './doors.ts';
import { forwardAuthRouter } from './forward-auth/routes.ts';
import { SignInMachine } from './machine.ts';
import { SignInCodes } from './methods/code.ts';
import { EmailVerification, emailVerificationEndpoints, VerifiedSignInStore } from './methods/email-verification.ts';
import { IssuerDiscovery } from './methods/issuer-discovery.ts';
import { describeLink, describePortalLink, SignInLinks } from './methods/link.ts';
import { OwnPasskeys, passkeyEndpoints } from './methods/own-passkeys.ts';
import { PasskeyStore } from './methods/passkey-store.ts';
import { Passkeys } from './methods/passkeys.ts';
import { QuickLogins } from './methods/quick-login.ts';
import { OAuth } from './oauth.ts';
import { AttemptOpener } from './opener.ts';
import { errorPage, type InteractionPages, SignInPages, StepsReader, wantsErrorPage } from './pages.ts';
import { PortalSessions } from './portal.ts';
import { SignInRequests } from './request.ts';
import { RequestStore } from './request-store.ts';
import { TokenVerifier, verifyEndpoints } from './verify.ts';

type Needs = {
  developers: { sessions: Sessions; bearers: ApiKeyBearers; applications: Applications };
  events: EventRecorder;
  mail: { outbox: Outbox; hasInbox: boolean };
  /** The authorization requests that wait for a person. */
  interactions: WaitingInteractions & InteractionPages;
  makeCall: MakeCall;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
};

/** Signing in, for visitors and developers: requests, methods, pages, and the tokens that websites verify. */
export function createSignIn(platform: Platform, { developers, events, mail, interactions, makeCall, sendPage }: Needs) {
  const { config, core, secretKeys, limitFactor, isLocal, publicUrl } = platform;
  const { sessions, bearers, applications } = developers;
  const { outbox, hasInbox } = mail;
  const { mailsPerNetwork } = config;

  const secrets = new AttemptSecrets(secretKeys);
  const store = new RequestStore(core, { limitFactor, mailsPerNetwork });
  const destinations = new Destinations({ ...platform, events, interactions });
  const requests = new SignInRequests({ destinations, store, outbox, events });
  const ownAttempts = new OwnAttempts(core, destinations, limitFactor);

  const proofs = { ...platform, destinations, secrets, outbox, events, opener: new AttemptOpener({ core, secrets, publicUrl }) };
  const links = new SignInLinks(proofs);
  const codes = new SignInCodes(proofs);
  const quickLogins = new QuickLogins(core, destinations);
  const passkeys = new Passkeys({ ...proofs, rpId: config.passkeys.rpId, store: new PasskeyStore(core) });
  const discovery = config.evp && new IssuerDiscovery({ isLocal, dnsServers: config.dnsServers });
  const emailVerification = new EmailVerification({ ...proofs, store: new VerifiedSignInStore(core), discovery });
  const portalSessions = new PortalSessions(core);
  const oauth = new OAuth({ ...proofs, requests, sessions: portalSessions, applications, portal: destinations.ofUrl() });
  const verifier = new TokenVerifier({ ...platform, events, keyOwnerOf: (authorization) => bearers.ownerOf(authorization) });

  const steps = new StepsReader({ attempts: ownAttempts, sessions, accounts: quickLogins, passkeys, emailVerification, hasInbox });
  const linkParts = { core, secrets, applications, events, publicUrl };
  const pages = new SignInPages({
    destinations,
    steps,
    interactions,
    describeLink: (secret, opening, cookies) => describeLink(linkParts, secret, opening, cookies),
    describePortalLink: (code, cookies) => describePortalLink(linkParts, code, cookies),
  });
  const doors = new SignInDoors({
    ...platform,
    machine: new SignInMachine({ pages, makeCall, links, passkeys }),
    pages,
    forgetKey: (email, device) => quickLogins.forget(email, device),
    sourceOf: (request, response) => requestSourceOf(request, response, platform),
    sendPage,
  });

  const signIn = { requests, ownAttempts, links, codes, quickLogins, oauth, sessions, portalSessions, passkeys, emailVerification };
  const outboxEvents: OutboxEvents = {
    secretsOf: (mail) => secrets.ofMail(mail, publicUrl),
    onRefused: (mail) => store.markMailFailed(mail.id),
    onDelayed: async ({ id, kind, recipient, data: { website } }, reason) => {
      if ((kind === 'sign_in' || kind === 'app_sign_in') && website)
        await events.record({ domain: website, kind: 'mail_delayed', reason, email: recipient, signIn: id, mail: id });
    },
  };
  return {
    requests,
    steps,
    pages,
    doors,
    outboxEvents,
    endpoints: [
      ...signInEndpoints(signIn),
      ...verifyEndpoints(verifier),
      ...passkeyEndpoints(passkeys, new OwnPasskeys({ ...platform, passkeys })),
      ...emailVerificationEndpoints(emailVerification),
    ],
    routers: [forwardAuthRouter({ ...platform, verifier })],
    start: async () => {
      if (isLocal) await destinations.addLocalhost(uuid());
    },
    /** Sends the page of an error and returns true where the request is one of a browser for a sign-in page. */
    sendErrorPage: (request: IncomingMessage, response: ServerResponse, error: DescribedError) => {
      if (!wantsErrorPage(request)) return false;
      for (const [name, value] of Object.entries(errorHeaders(error.fault))) response.setHeader(name, value);
      sendPage(response, errorPage(request, error), error.fault.status);
      return true;
    },
  };
}
