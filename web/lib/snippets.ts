/** The code that an integrator copies. Every piece names the site's domain and keeps a state of the site's own. */

/** Sends a visitor to the sign-in page. The cookie is read again when the visitor comes back, maybe in another tab. */
export const redirectSnippet = (origin: string, domain: string, language?: string) => `const state = crypto.randomUUID();
document.cookie = \`login_state=\${state}; Path=/; Max-Age=900; SameSite=Lax; Secure\`;

const back = \`https://${domain}/welcome?state=\${state}\`;
location.href = '${origin}/auth?forward_url=' + encodeURIComponent(back)${language ? ` + '&language=${language}'` : ''};`;

/** A link that needs no script. */
export const linkSnippet = (origin: string, domain: string) =>
  `<a href="${origin}/auth?forward_url=${encodeURIComponent(`https://${domain}/welcome`)}">Login with Email</a>`;

/** What the visitor's browser asks for after the sign-in. */
export const returnSnippet = (domain: string) => `GET https://${domain}/welcome?state=…&token=…`;

/** Verifies a token once, on the site's server. */
export const verifySnippet = (origin: string, domain: string) => `// On your server, while it answers /welcome?state=…&token=…
if (query.state !== cookies.login_state) throw new Error('Not begun in this browser');

const question = new URLSearchParams({ token: query.token, domain: '${domain}' });
const response = await fetch('${origin}/api/verify-token?' + question);
const { valid, email } = await response.json();
if (valid) startSession(email);`;

/** The one GET behind it. */
export const verifyRequestSnippet = (origin: string, domain: string) => `curl '${origin}/api/verify-token?token=TOKEN&domain=${domain}'`;

/** The two kinds of answer. */
export const answerSnippet = (domain: string) => `// The token is good, and is used up now.
{ "email": "ada@example.com", "valid": true, "domain": "${domain}" }

// It is not. reason: used, expired, unknown or other_domain
{ "email": null, "valid": false, "reason": "expired" }`;
