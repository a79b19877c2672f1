const STATE_SECONDS = 3600;

export default defineEventHandler((event) => {
  const state = crypto.randomUUID();
  setCookie(event, STATE, state, { ...COOKIE, maxAge: STATE_SECONDS });
  const back = new URLSearchParams({ state, return_to: ownPath(getQuery(event).return_to) });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
  return sendRedirect(event, `${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
});
