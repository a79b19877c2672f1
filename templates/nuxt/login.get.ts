export default defineEventHandler((event) => {
  const state = crypto.randomUUID();
  setCookie(event, 'login_state', state, { ...COOKIE, maxAge: 900 });
  const back = new URLSearchParams({ state, return_to: ownPath(getQuery(event).return_to) });
  const forwardUrl = `${SITE.origin}__CALLBACK__?${back}`;
  return sendRedirect(event, `${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
});
