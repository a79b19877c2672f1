type Result = { valid: true; email: string } | { valid: false };

export default defineEventHandler(async (event) => {
  const { state, token, return_to } = getQuery(event);
  const expected = cookieOf(event, STATE);
  if (typeof token !== 'string' || !token || !state) return refuse(event, 400, return_to);
  // The state has expired, or the link was opened in another browser: the sign-in starts over.
  if (expected === undefined) return sendRedirect(event, loginFor(return_to), 303);
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (state !== expected) return refuse(event, 400, return_to);
  const query = { token, domain: SITE.hostname };
  const result = await $fetch<Result>(`${AUTH}/api/verify-token`, { query, timeout: 5000, retry: 0 }).catch(() => null);
  if (!result) return refuse(event, 503, return_to);
  if (!result.valid) return refuse(event, 400, return_to);
  deleteCookie(event, STATE, COOKIE);
  const session = await visitorSession(event);
  await session.update({ email: result.email, host: SITE.host });
  return sendRedirect(event, ownPath(return_to), 303);
});
