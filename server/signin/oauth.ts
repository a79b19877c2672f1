import { v7 as uuid } from 'uuid';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES, REPEAT_SECONDS } from '../../contract/limits.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Destination } from '../../contract/signin.ts';
import type { Applications } from '../developers/applications.ts';
import { type Browser, type NewSession, SESSION_SECONDS } from '../developers/browser.ts';
import { deviceIdOf } from '../developers/sessions.ts';
import { raiseGenerations } from '../permissions/conditions.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import type { Database } from '../platform/db/database.ts';
import { digest, randomSecret } from '../platform/secrets.ts';
import { applicationActive, endedBySibling } from './attempt-conditions.ts';
import { type AttemptSecrets, idToHandle } from './attempts.ts';
import { completeSignIns } from './complete.ts';
import { isRedirectOf, type OAuthClient, withCode } from './destination.ts';
import type { PortalSessions } from './portal.ts';
import { newAttempt, type SignInRequests } from './request.ts';
import type { NewAttempt } from './request-store.ts';

/** Life of an application's token, in seconds. */
const APPLICATION_TOKEN_SECONDS = 3600;

/** The parameters of a token request that must match those of the authorization request. */
type CodeGrant = { id: string; clientId: string; redirectUri: string | null; challenge: string };

/** A link for which an address was given: whether it is the right one, and where the application waits for the code. */
type ConfirmedLink = { confirmed: boolean; clientId: string; redirectUri: string; state: string };

const OPEN_ATTEMPT = `consumed_at is null and expires_at > now() and secret_tries < ${MAX_CODE_TRIES}
    and not ${endedBySibling('a')}`;

// RFC 6749 §4.1.2 and RFC 7636 §4.6 in one condition: code, client, redirect URI, challenge, unused, unexpired. $1…$8: what the
// session is issued with (portal.ts).
const EXCHANGE = `
  update sign_in_attempts a set consumed_at = now(), session = $2, key_selector = $4
  where id = $9 and kind = 'app' and client_id = $10 and redirect_uri = coalesce($11, redirect_uri) and challenge = $12
    and ${OPEN_ATTEMPT}
  returning email, coalesce(mailbox, email) as mailbox, now() as proven_at, null::"char" as method`;

// A second exchange with the right verifier means that the code leaked, so that what it issued ends (RFC 6749 §4.1.2). A wrong
// verifier only counts as a try.
const REFUSED_EXCHANGE = `
with replayed as (
  select session, email, key_selector from sign_in_attempts
  where id = $1 and kind = 'app' and client_id = $2 and challenge = $3 and consumed_at is not null
),
raised as (${raiseGenerations('replayed')}),
sessions_ended as (delete from sessions s using replayed r where s.hash = r.session),
keys_ended as (delete from remembered_keys k using replayed r where k.email = r.email and k.selector = r.key_selector)
update sign_in_attempts set secret_tries = secret_tries + 1
where id = $1 and kind = 'app' and challenge <> $3 and consumed_at is null and secret_tries < ${MAX_CODE_TRIES}`;

/**
 * Returns the session that an exchange in this browser has just opened, with the parameters of the exchange: $1 attempt, $2 client,
 * $3 challenge, $4 device, $5 sessions and $6 keys that it may have issued.
 */
const EXCHANGED_HERE = `
select a.email, a.session from sign_in_attempts a
join sessions s on s.hash = a.session
join remembered_keys k on k.device = $4 and k.email = a.email and k.selector = a.key_selector and k.verifier = any($6)
where a.id = $1 and a.kind = 'app' and a.client_id = $2 and a.challenge = $3 and a.session = any($5)
  and a.consumed_at > now() - interval '${REPEAT_SECONDS} seconds'`;

// Like EXCHANGE, but the token only identifies the person: no key is issued and no website claimed. $1 attempt, $2 client,
// $3 redirect URI, $4 challenge, $5 user id, $6 session.
const APPLICATION_EXCHANGE = `
with person as (
  update sign_in_attempts a set consumed_at = now(), session = $6
  where id = $1 and kind = 'app' and client_id = $2 and redirect_uri = coalesce($3, redirect_uri) and challenge = $4
    and ${OPEN_ATTEMPT} and ${applicationActive('a')}
  returning id, email, client_id, coalesce(mailbox, email) as mailbox
),
-- PostgreSQL runs the CTEs that no other one reads from the last to the first: this row follows that of the sign-in.
exchanged as (${addActivity({ action: "'code_exchanged'", email: 'email', clientId: 'client_id', signIn: 'id' }, 'person')}),
${completeSignIns('person', {
  method: 'null::"char"',
  signIn: 'id',
  audit: { clientId: 'client_id' },
  session: { userId: '$5::uuid', hash: '$6::bytea', clientId: 'client_id', seconds: APPLICATION_TOKEN_SECONDS },
})}
select email from person`;

// A wrong address counts as a try in the statement that compares it, so that concurrent requests do not get more tries.
const CONFIRM_LINK = `
update sign_in_attempts a set secret_tries = secret_tries + case when email = $2 then 0 else 1 end
where id = $1 and kind = 'app' and ${OPEN_ATTEMPT} and ${applicationActive('a')}
returning email = $2 as confirmed, client_id as "clientId", redirect_uri as "redirectUri", state`;

type Parts = {
  core: Database['core'];
  publicUrl: string;
  requests: SignInRequests;
  sessions: PortalSessions;
  secrets: AttemptSecrets;
  applications: Applications;
  /** The destination of the portal's page. */
  portal: Destination;
};

/** OAuth 2.0 authorization code with PKCE (RFC 6749, RFC 7636), for the portal, the command line and developers' applications. */
export class OAuth {
  readonly #parts: Parts;
  readonly #builtIn: readonly OAuthClient[];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#builtIn = [
      { id: WEB_CLIENT_ID, redirectUris: [`${parts.publicUrl}/developer`], kind: 'web' },
      { id: CLI_CLIENT_ID, redirectUris: ['/callback'], kind: 'native' },
    ];
  }

  /** Begins a sign-in with an email. @throws Fault unknown_client, bad_redirect_uri, rate_limited; then no email is sent */
  async authorize(request: Parsed<'authorize'>, browser: Browser): Promise<Output<'authorize'>> {
    const client = await this.#clientOf(request.client_id);
    if (!isRedirectOf(client, request.redirect_uri)) throw new Fault('bad_redirect_uri', { field: 'redirect_uri' });
    const attempt = newAttempt(request.email, request.language, browser);
    await this.#parts.requests.begin({
      ...attempt,
      kind: 'app',
      destination: client.kind === 'web' ? this.#parts.portal : null,
      clientId: client.id,
      redirectUri: request.redirect_uri,
      challenge: request.code_challenge,
      state: request.state,
      ...mailOf(client, request),
    });
    return { sent: true, expiresIn: ATTEMPT_SECONDS, attempt: idToHandle(attempt.id) };
  }

  /**
   * Exchanges a code for a session (RFC 6749 §4.1.3, RFC 7636 §4.5). The portal's page gets the same session again within REPEAT_SECONDS
   * in the browser that has it: a double click on a link loads the page twice.
   * @throws Fault bad_grant
   */
  async exchange(request: Parsed<'token'>, browser: Browser): Promise<NewSession> {
    const grant = this.#grantOf(request);
    const { id, clientId, redirectUri, challenge } = grant;
    const consumed = { name: 'signin-exchange', person: EXCHANGE, values: [id, clientId, redirectUri, challenge] };
    if (clientId !== WEB_CLIENT_ID) return (await this.#parts.sessions.open(consumed, browser)) ?? this.#refuse(grant);
    const opened = await this.#parts.sessions.open(consumed, browser, this.#parts.secrets.issue('app', id));
    return opened ?? (await this.#exchangedHere(grant, browser)) ?? this.#refuse(grant);
  }

  /**
   * Exchanges a code for the token of a developer's application. The token only identifies the person: it opens neither portal nor
   * account and ends after an hour, and the browser or program that exchanges it is not remembered.
   * @throws Fault bad_grant
   */
  async exchangeForApplication(request: Parsed<'token'>): Promise<Output<'token'>> {
    const grant = this.#grantOf(request);
    const { id, clientId, redirectUri, challenge } = grant;
    const token = randomSecret();
    const { rows } = await this.#parts.core.query<{ email: string }>({
      name: 'signin-application-exchange',
      text: APPLICATION_EXCHANGE,
      values: [id, clientId, redirectUri, challenge, uuid(), digest(token)],
    });
    if (!rows[0]) return this.#refuse(grant);
    const { email } = rows[0];
    return { email, access_token: token, token_type: 'Bearer', expires_in: APPLICATION_TOKEN_SECONDS };
  }

  /**
   * Continues a sign-in to an application by its link, after the address was given: the program that began the sign-in is never
   * the browser that opens the link, and a mail scanner does not know the address.
   * @returns the application's redirect URI with the code; null when it is not a link of an OAuth client
   * @throws Fault bad_link
   */
  async confirmLink({ t, email }: Parsed<'confirmLink'>): Promise<string | null> {
    const { core, secrets, publicUrl } = this.#parts;
    const attempt = secrets.readLink(t);
    if (attempt?.kind !== 'app') return null;
    const { rows } = await core.query<ConfirmedLink>({ name: 'signin-application-link', text: CONFIRM_LINK, values: [attempt.id, email] });
    const [link] = rows;
    if (!link?.confirmed || !isRedirectOf(await this.#clientOf(link.clientId), link.redirectUri)) throw new Fault('bad_link');
    return withCode(link.redirectUri, t, link.state, publicUrl);
  }

  async #exchangedHere({ id, clientId, challenge }: CodeGrant, browser: Browser): Promise<NewSession | null> {
    const issued = this.#parts.secrets.issued('app', id).map(({ token, authKey }) => ({ token, hash: digest(token), authKey }));
    const hashes = issued.map(({ hash }) => hash);
    const values = [id, clientId, challenge, digest(browser.device), hashes, issued.map(({ authKey }) => authKey.verifier)];
    const { rows } = await this.#parts.core.query<{ email: string; session: Buffer }>({
      name: 'signin-exchanged-here',
      text: EXCHANGED_HERE,
      values,
    });
    const same = rows[0] && issued.find(({ hash }) => hash.equals(rows[0].session));
    return same ? { email: rows[0].email, session: same.token, authKey: same.authKey.key } : null;
  }

  async #clientOf(id: string): Promise<OAuthClient> {
    const client = this.#builtIn.find((builtIn) => builtIn.id === id);
    if (client) return client;
    const redirectUris = await this.#parts.applications.redirectUrisOf(id);
    if (!redirectUris) throw new Fault('unknown_client', { field: 'client_id' });
    return { id, redirectUris, kind: 'application' };
  }

  /** @throws Fault bad_grant */
  #grantOf({ code, code_verifier, client_id, redirect_uri }: Parsed<'token'>): CodeGrant {
    const attempt = this.#parts.secrets.readLink(code);
    if (attempt?.kind !== 'app') throw new Fault('bad_grant');
    const challenge = digest(code_verifier).toString('base64url');
    return { id: attempt.id, clientId: client_id, redirectUri: redirect_uri ?? null, challenge };
  }

  /** Counts a wrong verifier, or ends what the code issued when the right one is used again. @throws Fault bad_grant, always */
  async #refuse({ id, clientId, challenge }: CodeGrant): Promise<never> {
    await this.#parts.core.query({ name: 'signin-exchange-refused', text: REFUSED_EXCHANGE, values: [id, clientId, challenge] });
    throw new Fault('bad_grant');
  }
}

function mailOf({ kind }: OAuthClient, { state, redirect_uri }: Parsed<'authorize'>): Pick<NewAttempt, 'mailKind' | 'mailData'> {
  // The portal's link leads to the portal's callback; any other one to the link page, which continues to the redirect URI.
  if (kind === 'web') return { mailKind: 'portal_sign_in', mailData: { state } };
  if (kind === 'native') return { mailKind: 'portal_sign_in', mailData: {} };
  return { mailKind: 'app_sign_in', mailData: { host: new URL(redirect_uri).hostname } };
}

/**
 * Returns the response to an exchange. The portal's page gets no `access_token`: its session is in an HttpOnly cookie, which
 * scripts cannot read. A program has no cookies and gets the response of RFC 6749 §5.1.
 */
export function tokenResponse({ email, session, authKey }: NewSession, clientId: string, { device }: Browser): Output<'token'> {
  const remembered = { email, authKey, localKey: deviceIdOf(digest(device)) };
  if (clientId === WEB_CLIENT_ID) return remembered;
  return { ...remembered, access_token: session, token_type: 'Bearer', expires_in: SESSION_SECONDS };
}
