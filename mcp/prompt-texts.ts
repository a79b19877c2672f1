/** How to find out why visitors do not get from the mail to the protected page. */
export const debugCallback = (origin: string, domain: string, symptom?: string) =>
  `Find out why signing in with Email Auth (${origin}) fails at ${domain}, and mend it.${symptom ? `\nWhat happens: ${symptom}` : ''}

1. Call check_integration for ${domain} (localhost wants url, the callback's address) and mend what it names. If it wants a sign-in or a proof of the domain that you do not have, go on.
2. Read the code of /login and of the callback, and the settings EMAILAUTH_URL and SITE_URL. EMAILAUTH_URL must be ${origin}; the host of SITE_URL must be ${domain} or, for the same registration, a subdomain of it.
3. No mail comes, or the page says that the domain is not supported: forward_url must be https on a registered domain or its subdomain (http only for localhost, where the service runs in local mode), without user info and without a token parameter.
4. The callback refuses the state: its cookie did not come back. It must be SameSite=Lax and not Strict, Secure only on https, with a path that covers the callback, and set on the very host that the callback is opened on: localhost is not 127.0.0.1, and www.${domain} is not ${domain}.
5. The callback refuses the token. The answer of ${origin}/api/verify-token has a reason:
   - used: it was verified before. Look for a second call: a callback that runs twice, a page loaded again, a link fetched ahead of the click.
   - expired: more than an hour passed.
   - unknown: it was cut off or changed on the way, or EMAILAUTH_URL names another service.
   - other_domain: the domain sent is not the host of forward_url. Take both from SITE_URL.
6. The token is valid and the visitor is still not signed in: look at the session's cookie and at what the redirect after it goes to.

Change one thing at a time and sign in again after each. Do not log tokens, and do not call verify_token on one that the app still needs: it uses the token up. search_docs answers what is still unclear. At the end say what was wrong, in one sentence.`;

/** What must hold in the code of an integration. */
export const reviewIntegration = (origin: string, domain: string) =>
  `Review how this app signs people in with Email Auth (${origin}) at ${domain}. For each point say whether it holds, with file and line; mend what does not.

1. /login makes a random state for every sign-in, of at least 120 random bits, such as crypto.randomUUID(), and keeps it in a cookie that is HttpOnly, SameSite=Lax and, on https, Secure.
2. forward_url is built from a setting, never from the Host header or from a parameter of the request, and carries the state.
3. The callback compares the state with the cookie before anything else, refuses a missing one too, and deletes the cookie.
4. The token is verified on the server, by ${origin}/api/verify-token, and always with domain=${domain}. Without it a token of another site would sign its visitor in here.
5. Only valid: true opens a session, and for the email of that answer alone.
6. A new session is opened at every sign-in, and its cookie is HttpOnly, SameSite=Lax and, on https, Secure.
7. Afterwards there is a redirect to an address without token and state, on the same site: no redirect to an address that the request gave.
8. A service that does not answer within 5 seconds leads to a page with status 503 that offers to try again, never to a session.
9. Every protected page asks for the session on the server. Logout is a POST and ends the session.
10. No token is logged, stored or passed on, and SESSION_SECRET is long, random and not in version control.

Then prove it: a sign-in reaches the protected page; the same callback opened again is refused; a callback with another state is refused. check_integration looks at the rest from outside.`;
