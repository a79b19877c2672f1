// The protocol in code, step by step, for one domain.
import { LOCAL_APP, LOCALHOST } from '../../contract/urls.ts';

/** Redirects a visitor to the sign-in page, on the website's server. @param site the origin of the website */
export function redirectSnippet(origin: string, domain: string, site = `https://${domain}`): string {
  const isSecure = site.startsWith('https:');
  return `const state = crypto.randomUUID();
setCookie('${isSecure ? '__Host-' : ''}login_state', state, { path: '/', httpOnly: true, secure: ${isSecure}, sameSite: 'lax', maxAge: 3600 });

const forwardUrl = '${site}/auth/callback?state=' + state;
redirect('${origin}/auth?' + new URLSearchParams({ forward_url: forwardUrl, language: 'en' }));`;
}

/** The link on the website's pages. */
export const linkSnippet = '<a href="/login">Login with Email</a>';

/** Returns the address of the sign-in page of a website, which returns to its home page. */
export const signInUrlOf = (origin: string, domain: string) =>
  `${origin}/auth?forward_url=${encodeURIComponent(domain === LOCALHOST ? `${LOCAL_APP}/` : `https://${domain}/`)}`;

/** A link to the sign-in page, for a website that has no state yet. */
export const signInLinkSnippet = (origin: string, domain: string) => `<a href="${signInUrlOf(origin, domain)}">Login with Email</a>`;

/** The request of the visitor's browser after the sign-in. */
export const returnSnippet = (domain: string) => `GET https://${domain}/auth/callback?state=…&token=…`;

/** Checks the state, then verifies the token, on the website's server. */
export const verifySnippet = (origin: string, domain: string) => `if (!state || state !== cookies['__Host-login_state']) return refuse(400);

const query = new URLSearchParams({ token, domain: '${domain}' });
const response = await fetch('${origin}/api/verify-token?' + query);
if (!response.ok) return refuse(503);

const { valid, email } = await response.json();
if (!valid) return refuse(400);
openSession(email);
redirect('/account');`;

/** The two kinds of response. */
export const responseSnippet = (domain: string) => `// The token was good, and is used up.
{ "email": "ada@example.com", "valid": true, "domain": "${domain}",
  "method": "link", "at": "2026-05-04T08:15:30.000Z" }

// It was not. reason: used, expired, unknown or other_domain
{ "email": null, "valid": false, "reason": "expired" }`;

/** What a sign-in through an application is begun with. */
type Authorization = { clientId: string; redirectUri: string; email: string; codeChallenge: string; state: string };

const postSnippet = (url: string, body: Record<string, string>) => `curl ${url} \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`;

/** Begins a sign-in through a public application: the call that its server makes. */
export const authorizeSnippet = (origin: string, { clientId, redirectUri, email, codeChallenge, state }: Authorization) =>
  postSnippet(`${origin}/api/auth/authorize`, {
    client_id: clientId,
    redirect_uri: redirectUri,
    email,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    state,
  });

/** Completes such a sign-in, once its code stands in place of CODE. */
export const exchangeSnippet = (origin: string, { clientId, codeVerifier }: { clientId: string; codeVerifier: string }) =>
  postSnippet(`${origin}/api/auth/token`, { client_id: clientId, code: 'CODE', code_verifier: codeVerifier });

/** Returns the address that begins a sign-in of OpenID Connect through an application. */
export const authorizationUrl = (origin: string, { clientId, redirectUri, email, codeChallenge, state }: Authorization) =>
  `${origin}/oauth/authorize?${new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email',
    login_hint: email,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    state,
  })}`;

/** The smallest call with an API key. */
export const keySnippet = (origin: string, key: string) => `curl ${origin}/api/websites \\
  -H 'Authorization: Bearer ${key}'`;
