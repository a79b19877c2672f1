import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { Provider } from 'oidc-provider';
import type { Output, Parsed } from '../../contract/calls.ts';
import { MAX_EMAIL_LENGTH } from '../../contract/emails.ts';
import { Fault } from '../../contract/errors.ts';
import { TOKEN_SECONDS } from '../../contract/limits.ts';
import type { AuthorizationStep, SignInPage } from '../../contract/pages.ts';
import type { IdentityScope, ResourceScope } from '../../contract/scopes.ts';
import type { Conditions, Destination } from '../../contract/signin.ts';
import { notBeingSignedOut } from '../permissions/sign-outs.ts';
import type { Database } from '../platform/db/database.ts';
import { methodOf } from '../platform/db/method-rows.ts';
import type { Cookies } from '../platform/http/cookies.ts';
import { queryOf } from '../platform/http/reading.ts';
import { digest, isRandomSecret } from '../platform/secrets.ts';
import { type PageRequest, type PageResponse, type Posted, queryOfPage, type StepsReader } from '../signin/pages.ts';
import { interactionResults } from './adapter.ts';
import { type Authentication, acrOf, amrOf, asksForPasskey, isPasskeyAcr } from './authentication.ts';
import { clientKindOf } from './clients.ts';
import { cookieNames } from './configuration.ts';
import { interactionPath } from './endpoints.ts';
import { grantConsent, type Interaction } from './grants.ts';
import { applicationTarget, pageLanguage } from './pages.ts';
import type { RecordsStore } from './store.ts';

type Parts = {
  publicUrl: string;
  secure: boolean;
  core: Database['core'];
  store: RecordsStore;
  provider(): Promise<Provider>;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
  cookiesOf(request: IncomingMessage, response: ServerResponse): Cookies;
  steps: StepsReader;
};

/** An authorization request that waits for its person. `session`: the one that a consent is about. */
type Waiting = Pick<Interaction, 'uid' | 'params' | 'prompt'> & { session?: Interaction['session'] };

/** The steps of an authorization request in which a person takes part: sign-in, choice of account and consent. */
export class Interactions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns an authorization request that waits for a sign-in. @throws Fault interaction_ended */
  async waiting(uid: string): Promise<Extract<Destination, { to: 'application' }>> {
    const waiting = await this.#waiting(uid);
    if (!waiting) throw new Fault('interaction_ended');
    return this.#destinationOf(waiting);
  }

  async #waiting(uid: string): Promise<Waiting | undefined> {
    const found = await this.#parts.store.find('Interaction', uid);
    const { params, prompt } = (found?.payload ?? {}) as Partial<Waiting>;
    return params && prompt && prompt.name !== 'consent' ? { uid, params, prompt } : undefined;
  }

  /**
   * Handles GET /oauth/interaction/UID. With the token of a sign-in that this browser completed, changes the request to the one that
   * continues the authorization request and returns true; otherwise sends the page of its next step.
   */
  async open(request: IncomingMessage, response: ServerResponse, uid: string): Promise<boolean> {
    const provider = await this.#parts.provider();
    const interaction = await this.#ofBrowser(provider, request.headers.cookie, uid);
    const cookies = this.#parts.cookiesOf(request, response);
    if (interaction && (await this.#continue(provider, request, cookies.get('attempt'), interaction))) return true;
    const { page, status } = await this.#read(provider, request, cookies, interaction);
    this.#parts.sendPage(response, page, status);
    return false;
  }

  /**
   * Returns the page of the next step of an authorization request. A call of the API has no cookie of the request: its page follows from
   * the id of the request, and leaves out the login_hint.
   */
  async page(request: PageRequest, cookies: Cookies, uid: string, posted?: Posted): Promise<PageResponse> {
    const provider = await this.#parts.provider();
    const own = await this.#ofBrowser(provider, request.headers.cookie, uid);
    const waiting = own || !request.ofCall ? own : await this.#waiting(uid);
    const shown = waiting && !own ? { ...waiting, params: { ...waiting.params, login_hint: undefined } } : waiting;
    return this.#read(provider, request, cookies, shown, posted);
  }

  async #read(provider: Provider, request: PageRequest, cookies: Cookies, interaction: Waiting | undefined, posted?: Posted) {
    if (interaction) return { page: await this.#pageOf(provider, request, cookies, interaction, posted), status: 200 };
    const page: SignInPage = {
      language: pageLanguage(request, undefined),
      target: { kind: 'portal' },
      authorization: { step: 'expired' },
    };
    return { page, status: 400 };
  }

  /** Grants or refuses what the application requests. @throws Fault interaction_ended */
  async decide({ uid, decision }: Parsed<'decideInteraction'>, cookieHeader: string | undefined): Promise<Output<'decideInteraction'>> {
    const provider = await this.#parts.provider();
    const interaction = await this.#ofBrowser(provider, cookieHeader, uid);
    if (!interaction) throw new Fault('interaction_ended');
    const { session, prompt } = interaction;
    if (decision === 'deny') {
      interaction.result = { error: 'access_denied', error_description: 'the person refused' };
    } else {
      if (prompt.name !== 'consent' || !session) throw new Fault('interaction_ended');
      if (decision === 'allow') {
        const grantId = await grantConsent(provider, this.#parts.store, interaction, session.accountId);
        interaction.result = { ...interaction.lastSubmission, consent: { grantId } };
      } else interaction.prompt = { name: 'select_account', reasons: ['other_account'], details: {} };
    }
    await interaction.persist();
    return { redirectUrl: decision === 'other_account' ? this.#parts.publicUrl + interactionPath(uid) : interaction.returnTo };
  }

  /** Returns the redirect URI of a request. That of a device has none: it ends on the host of a website, or else at this service. */
  #redirectUriOf({ redirect_uri, client_id }: Interaction['params']): string {
    if (typeof redirect_uri === 'string') return redirect_uri;
    const clientId = String(client_id);
    return clientKindOf(clientId) === 'website' ? clientId : this.#parts.publicUrl;
  }

  /**
   * Returns an interaction of this browser. Its id is in URLs, which logs and histories contain, so that a consent is shown and decided
   * only with the cookie of the session that it is about.
   */
  async #ofBrowser(provider: Provider, cookieHeader: string | undefined, uid: string): Promise<Interaction | undefined> {
    const names = cookieNames(this.#parts.secure);
    const cookies = parse(cookieHeader ?? '');
    const interaction = cookies[names.interaction] === uid ? await provider.Interaction.find(uid) : undefined;
    if (interaction?.prompt.name !== 'consent') return interaction;
    const current = await this.#sessionOf(provider, cookies);
    const isSame = current?.accountId !== undefined && current.uid === interaction.session?.uid;
    return isSame && current.accountId === interaction.session?.accountId ? interaction : undefined;
  }

  async #sessionOf({ Session }: Provider, cookies: Record<string, string | undefined>) {
    const id = cookies[cookieNames(this.#parts.secure).session];
    return id ? Session.find(id) : undefined;
  }

  async #continue(provider: Provider, request: IncomingMessage, attempt: string | undefined, interaction: Interaction): Promise<boolean> {
    const { prompt, uid, returnTo, params } = interaction;
    const { token } = queryOf(request);
    if (
      prompt.name === 'consent' ||
      request.method !== 'GET' ||
      typeof token !== 'string' ||
      !isRandomSecret(token) ||
      !isRandomSecret(attempt)
    )
      return false;
    const signedIn = await spendToken(this.#parts.core, uid, digest(token), digest(attempt));
    const { maxAge, passkey } = this.#conditionsOf(interaction);
    if (
      !signedIn ||
      (passkey && !isPasskeyAcr(acrOf(signedIn))) ||
      (signedIn.method === 'remembered' && maxAge !== null && signedIn.age >= maxAge)
    )
      return false;
    const { email, method } = signedIn;
    const names = cookieNames(this.#parts.secure);
    const cookies = parse(request.headers.cookie ?? '');
    const current = await this.#sessionOf(provider, cookies);
    const isSame = current?.accountId === email;
    // A sign-in ends the session that the browser had with another account.
    if (current?.accountId && !isSame) await current.destroy();
    const locale = pageLanguage(request, params.ui_locales);
    // A remembered account was authenticated when its address was proven.
    const ts = method === 'remembered' ? { ts: Math.floor(Date.now() / 1000 - signedIn.age) } : {};
    const login = { accountId: email, acr: acrOf(signedIn), amr: amrOf(signedIn), ...ts };
    const payload = { ...interaction, result: { select_account: {}, login, locale }, ...(!isSame && { session: undefined }) };
    interactionResults.set(request, { uid, payload });
    const kept = Object.entries(cookies).filter(([name]) => name !== names.resume && (isSame || name !== names.session));
    request.headers.cookie = [...kept, [names.resume, uid]].map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('; ');
    request.url = new URL(returnTo).pathname;
    return true;
  }

  #destinationOf(waiting: Waiting): Extract<Destination, { to: 'application' }> {
    const { uid, params } = waiting;
    return {
      to: 'application',
      url: this.#parts.publicUrl + interactionPath(uid),
      interaction: uid,
      client: String(params.client_id),
      redirectUri: this.#redirectUriOf(params),
      conditions: this.#conditionsOf(waiting),
    };
  }

  /** Returns what an application asks of the authentication (OpenID Connect Core §3.1.2.1: prompt=login, max_age, acr_values). */
  #conditionsOf({ params, prompt }: Waiting): Conditions {
    const passkey = asksForPasskey(params.acr_values, this.#parts.publicUrl);
    if (prompt.reasons.includes('login_prompt')) return { maxAge: 0, passkey };
    return { maxAge: params.max_age === undefined ? null : Number(params.max_age), passkey };
  }

  async #pageOf(
    provider: Provider,
    request: PageRequest,
    received: Cookies,
    interaction: Waiting,
    posted: Posted | undefined,
  ): Promise<SignInPage> {
    const { uid, params, prompt, session } = interaction;
    const language = pageLanguage(request, params.ui_locales);
    const clientId = String(params.client_id);
    // A client that was removed in the meantime is rejected when the request continues.
    const client = await provider.Client.find(clientId).catch(() => undefined);
    const onDevice = params.redirect_uri === undefined;
    const target = applicationTarget({ clientId, clientName: client?.clientName }, params.redirect_uri, { interaction: uid, onDevice });
    if (prompt.name === 'consent' && session) {
      const consent = { step: 'consent', email: session.accountId, scopes: scopesToGrant(prompt.details) } as const;
      return { language, target, authorization: consent };
    }
    const query = queryOfPage(request);
    // Of the page that led back here, or of the application.
    const hints = [query.login_hint, params.login_hint].filter((text) => typeof text === 'string');
    const hint = hints[0]?.slice(0, MAX_EMAIL_LENGTH);
    const authorization: AuthorizationStep = {
      step: 'sign_in',
      email: hint ?? null,
      chooseAccount: prompt.name === 'select_account',
    };
    const page = { destination: this.#destinationOf(interaction), query, language, hint, posted };
    return { language, target, authorization, ...(await this.#parts.steps.read(received, page)) };
  }
}

/** Returns the scopes that a consent prompt is about. */
function scopesToGrant(details: Record<string, unknown>): (IdentityScope | ResourceScope)[] {
  const { missingOIDCScope = [], missingResourceScopes = {} } = details as {
    missingOIDCScope?: IdentityScope[];
    missingResourceScopes?: Record<string, ResourceScope[]>;
  };
  return [...new Set([...missingOIDCScope, ...Object.values(missingResourceScopes).flat()])];
}

// Only in the browser that began the sign-in, and only for the interaction it was begun for. $1 token, $2 browser, $3 interaction.
const SPEND = `
update tokens set used_at = now()
where hash = $1 and browser = $2 and interaction = $3 and used_at is null and expires_at > now() and ${notBeingSignedOut('email')}
returning email, method, hardware, extract(epoch from now() - coalesce(proven_at, expires_at - interval '${TOKEN_SECONDS} seconds'))::float8 as age`;

/** Uses up the token of a sign-in. Returns who signed in, how, and how many seconds ago the address was proven; or null. */
async function spendToken(
  core: Database['core'],
  uid: string,
  token: Buffer,
  browser: Buffer,
): Promise<(Authentication & { email: string; age: number }) | null> {
  type Row = { email: string; method: string; hardware: boolean; age: number };
  const { rows } = await core.query<Row>({ name: 'oidc-spend-token', text: SPEND, values: [token, browser, digest(uid)] });
  return rows[0] ? { ...rows[0], method: methodOf(rows[0].method) } : null;
}
