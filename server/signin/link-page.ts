import type { LanguageCode } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../../contract/limits.ts';
import type { SignInBoot } from '../../contract/pages.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';
import { maskEmail } from '../../contract/rules.ts';
import { type Applications, isApplicationId } from '../applications/applications.ts';
import type { Database } from '../db/database.ts';
import type { EventRecorder } from '../events/recorder.ts';
import { subjectOf } from '../events/subjects.ts';
import { digest } from '../secrets.ts';
import { clientActive, endedBySibling, sameRegistration, stillAwaited } from './conditions.ts';
import { isRedirectOf, redirectHostOf, withCode } from './redirects.ts';
import { type AttemptKind, type AttemptSecrets, hasCode } from './secrets.ts';
import { SHOWN_WEBSITE, type ShownWebsite, siteTarget } from './target.ts';

/** What the page of an opened link shows. */
export type LinkPage = Pick<SignInBoot, 'link' | 'target' | 'language'>;

type LinkState = {
  kind: AttemptKind;
  email: string;
  /** SHA-256 of the attempt cookie of the browser that began. */
  browser: Buffer;
  language: LanguageCode;
  domain: string | null;
  clientId: string | null;
  redirectUri: string | null;
  forwardUrl: string | null;
  state: string | null;
  /** What is shown of the website. */
  website: ShownWebsite | null;
  /** Whether the domain is registered now, possibly by another account. */
  registered: boolean;
  /** Whether it is, or its application is, not the one for which the email was sent. */
  withdrawn: boolean;
  /** `withdrawn`: the website or the application for which the email was sent no longer exists, or is not the same one. */
  status: 'open' | 'used' | 'expired' | 'withdrawn';
};

const WITHDRAWN = `(a.domain is not null and (${sameRegistration('a.domain', `a.expires_at - interval '${ATTEMPT_SECONDS} seconds'`)}) is not true
    or a.kind = 'app' and not ${clientActive('a')})`;

const LINK_STATE = `
select kind, email, browser, language, domain, client_id as "clientId", redirect_uri as "redirectUri", forward_url as "forwardUrl", state,
  (select row_to_json(shown) from (select ${SHOWN_WEBSITE} from websites w where w.domain = a.domain) shown) as website,
  exists (select from websites w where w.domain = a.domain) as registered, ${WITHDRAWN} as withdrawn,
  case
    when a.consumed_at is not null or ${endedBySibling('a', `${ATTEMPT_SECONDS}`)} then 'used'
    when expires_at <= now() or secret_tries >= ${MAX_CODE_TRIES} or not ${stillAwaited('a')} then 'expired'
    when ${WITHDRAWN} then 'withdrawn'
    else 'open' end as status
from sign_in_attempts a where id = $1`;

const INVALID: LinkPage = { language: 'en', link: { state: 'invalid', again: '/auth' }, target: { kind: 'portal' } };

type Parts = {
  core: Database['core'];
  secrets: AttemptSecrets;
  applications: Pick<Applications, 'redirectUrisOf'>;
  events: Pick<EventRecorder, 'record'>;
  publicUrl: string;
};

/**
 * Returns the page of a link, without using the link: for a browser that has to give the address, or for a native client (RFC 8252).
 * @param isVisit whether the website's owner sees it as an event; not for HEAD and prefetches
 */
export async function describeLink(parts: Parts, secret: string, isVisit: boolean): Promise<LinkPage> {
  const attempt = parts.secrets.readLink(secret);
  const found = attempt && (await linkState(parts.core, attempt.id));
  if (!found) return INVALID;
  if (isVisit) await recordVisit(parts, found);
  if (found.kind === 'oidc') return describeInteractionLink(found);
  if (found.clientId && isApplicationId(found.clientId)) return describeApplicationLink(parts, found);
  const { language } = found;
  const target = targetOf(found);
  if (found.status !== 'open') return { language, target, link: { state: found.status, again: beginAgain(found) } };
  if (found.kind !== 'app')
    return { language, target, link: { state: 'open', maskedEmail: maskEmail(found.email), hasCode: hasCode(found.kind) } };
  if (found.clientId !== CLI_CLIENT_ID || !found.redirectUri || !found.state) return INVALID;
  return { language, target, link: { state: 'native', redirectUrl: withCode(found.redirectUri, secret, found.state, parts.publicUrl) } };
}

/**
 * Returns the page of the portal's link for a browser that cannot complete its sign-in, because the link has ended or another browser
 * began it; null for the browser that began it, and for a text that is no such link. The link is not used.
 * @param code the link secret, as the authorization code of the callback
 * @param attempt the attempt cookie of the browser
 */
export async function describePortalLink(
  { core, secrets }: Pick<Parts, 'core' | 'secrets'>,
  code: string,
  attempt: string | undefined,
): Promise<LinkPage | null> {
  const read = secrets.readLink(code);
  const found = read?.kind === 'app' ? await linkState(core, read.id) : null;
  if (found?.clientId !== WEB_CLIENT_ID) return null;
  const { language, status, email } = found;
  const target = { kind: 'portal' } as const;
  if (status !== 'open') return { language, target, link: { state: status, again: beginAgain(found) } };
  const began = attempt !== undefined && digest(attempt).equals(found.browser);
  return began ? null : { language, target, link: { state: 'other_browser', maskedEmail: maskEmail(email) } };
}

/** Adds the event for a link of a website or an application that did not sign in. */
async function recordVisit({ events }: Parts, attempt: LinkState): Promise<void> {
  const { kind, status, email, withdrawn } = attempt;
  const domain = subjectOf(attempt);
  // Every browser enters the address for the link of an application.
  if (!domain || (kind === 'app' && status === 'open')) return;
  const failure = status === 'open' ? ({ kind: 'wrong_browser' } as const) : ({ kind: 'link_refused', reason: status } as const);
  await events.record({ domain, email: withdrawn ? null : email, ...failure });
}

async function linkState(core: Database['core'], id: string): Promise<LinkState | null> {
  return (await core.query<LinkState>({ name: 'signin-link-state', text: LINK_STATE, values: [id] })).rows[0] ?? null;
}

function targetOf({ domain, forwardUrl, website }: LinkState): LinkPage['target'] {
  if (!domain || !forwardUrl) return { kind: 'portal' };
  return siteTarget(new URL(forwardUrl).hostname, website);
}

/** Returns the sign-in page for the same target, or the website itself when it is not registered any more. */
function beginAgain({ domain, forwardUrl, registered, language }: LinkState): string {
  if (!domain || !forwardUrl) return `/auth?${new URLSearchParams({ language })}`;
  return registered ? `/auth?${new URLSearchParams({ forward_url: forwardUrl, language })}` : new URL(forwardUrl).origin;
}

/** The page of an application's link asks for the address, as long as its redirect URI may be used. It does not contain the code. */
async function describeApplicationLink({ applications }: Parts, found: LinkState): Promise<LinkPage> {
  const { clientId, redirectUri, status, language } = found;
  const redirectUris = clientId && (await applications.redirectUrisOf(clientId));
  if (!redirectUris || !redirectUri || status === 'withdrawn') return INVALID;
  if (!isRedirectOf({ id: clientId, redirectUris, kind: 'application' }, redirectUri)) return INVALID;
  const { hostname, origin } = new URL(redirectUri);
  const target = siteTarget(hostname, null);
  if (status !== 'open') return { language, target, link: { state: status, again: origin } };
  return { language, target, link: { state: 'open', maskedEmail: maskEmail(found.email), hasCode: true } };
}

/** The page of a link that was opened in another browser than the one in which the authorization request waits, or that has ended. */
function describeInteractionLink({ redirectUri, forwardUrl, status, language, email }: LinkState): LinkPage {
  const target = siteTarget(redirectHostOf(redirectUri ?? ''), null);
  if (status !== 'open') return { language, target, link: { state: status, again: forwardUrl ?? '/auth' } };
  return { language, target, link: { state: 'other_browser', maskedEmail: maskEmail(email) } };
}
