export default defineEventHandler((event) => {
  const state = crypto.randomUUID();
  setCookie(event, 'login_state', state, { ...COOKIE, maxAge: 900 });
  const forwardUrl = `${SITE.origin}__CALLBACK__?state=${state}`;
  return sendRedirect(event, `${AUTH}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' })}`, 303);
});
