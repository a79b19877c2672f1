type Result = { valid: true; email: string } | { valid: false };

export default defineEventHandler(async (event) => {
  const { state, token, return_to } = getQuery(event);
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (typeof token !== 'string' || !state || state !== getCookie(event, 'login_state')) return refuse(event, 400);
  const query = { token, domain: SITE.hostname };
  const result = await $fetch<Result>(`${AUTH}/api/verify-token`, { query, timeout: 5000, retry: 0 }).catch(() => null);
  if (!result) return refuse(event, 503);
  if (!result.valid) return refuse(event, 400);
  deleteCookie(event, 'login_state', COOKIE);
  const session = await visitorSession(event);
  await session.update({ email: result.email });
  return sendRedirect(event, ownPath(return_to), 303);
});
