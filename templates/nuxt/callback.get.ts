type Answer = { valid: boolean; email: string };

export default defineEventHandler(async (event) => {
  const { state, token } = getQuery(event);
  // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
  if (typeof token !== 'string' || !state || state !== getCookie(event, 'login_state')) {
    throw createError({ statusCode: 400, statusMessage: 'This sign-in is not valid in this browser. Try again.' });
  }
  const query = { token, domain: SITE.hostname };
  const answer = await $fetch<Answer>(`${AUTH}/api/verify-token`, { query, timeout: 5000, retry: 0 }).catch(() => null);
  if (!answer) throw createError({ statusCode: 503, statusMessage: 'Sign-in is not available at the moment. Try again.' });
  if (!answer.valid) throw createError({ statusCode: 400, statusMessage: 'This sign-in is used up or too old. Try again.' });
  deleteCookie(event, 'login_state', COOKIE);
  const session = await visitorSession(event);
  await session.update({ email: answer.email });
  return sendRedirect(event, '/account', 303);
});
