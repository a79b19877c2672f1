/** The protocol in code, step by step. Every piece names the site's domain and keeps a state of the site's own. */

/** Sends a visitor to the sign-in page, from the site's server. */
export const redirectSnippet = (origin: string, domain: string) => `const state = crypto.randomUUID();
setCookie('login_state', state, { httpOnly: true, secure: true, sameSite: 'lax', maxAge: 900 });

const forwardUrl = 'https://${domain}/auth/callback?state=' + state;
redirect('${origin}/auth?' + new URLSearchParams({ forward_url: forwardUrl, language: 'en' }));`;

/** What the site's own pages show. */
export const linkSnippet = '<a href="/login">Login with Email</a>';

/** A link straight to the sign-in page, for a site that keeps no state yet. */
export const signInLinkSnippet = (origin: string, domain: string) =>
  `<a href="${origin}/auth?forward_url=${encodeURIComponent(`https://${domain}/`)}">Login with Email</a>`;

/** What the visitor's browser asks for after the sign-in. */
export const returnSnippet = (domain: string) => `GET https://${domain}/auth/callback?state=…&token=…`;

/** Checks the state, then verifies the token once, on the site's server. */
export const verifySnippet = (origin: string, domain: string) => `if (!state || state !== cookies.login_state) return refuse(400);

const question = new URLSearchParams({ token, domain: '${domain}' });
const response = await fetch('${origin}/api/verify-token?' + question);
if (!response.ok) return refuse(503);

const { valid, email } = await response.json();
if (!valid) return refuse(400);
openSession(email);
redirect('/account');`;

/** The two kinds of answer. */
export const answerSnippet = (domain: string) => `// The token was good, and is used up.
{ "email": "ada@example.com", "valid": true, "domain": "${domain}" }

// It was not. reason: used, expired, unknown or other_domain
{ "email": null, "valid": false, "reason": "expired" }`;
