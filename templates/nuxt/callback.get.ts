type Answer = { valid: true; email: string } | { valid: false };

export default defineEventHandler(async (event) => {
  const { state, token } = getQuery(event);
  // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
  if (typeof token !== 'string' || !state || state !== getCookie(event, 'login_state')) return refuse(event, 400);
  const query = { token, domain: SITE.hostname };
  const answer = await $fetch<Answer>(`${AUTH}/api/verify-token`, { query, timeout: 5000, retry: 0 }).catch(() => null);
  if (!answer) return refuse(event, 503);
  if (!answer.valid) return refuse(event, 400);
  deleteCookie(event, 'login_state', COOKIE);
  const session = await visitorSession(event);
  await session.update({ email: answer.email });
  return sendRedirect(event, '/account', 303);
});
