import { UserManager } from 'oidc-client-ts';

// A registered website needs no registration of a client: its origin is the client ID.
const manager = new UserManager({
  authority: settings.issuer,
  client_id: location.origin,
  redirect_uri: `${location.origin}/`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid email offline_access',
  prompt: 'consent',
});

if (new URLSearchParams(location.search).has('state')) {
  if (new URLSearchParams(location.search).has('code')) await manager.signinCallback();
  history.replaceState(null, '', '/');
}
show(await manager.getUser());

function show(user) {
  document.querySelector('#user').textContent = JSON.stringify(user && { sub: user.profile.sub, email: user.profile.email });
}

async function refresh() {
  document.querySelector('#refreshed').textContent = await manager.signinSilent().then(
    ({ profile }) => JSON.stringify({ sub: profile.sub }),
    ({ error }) => JSON.stringify({ error }),
  );
}

document.querySelector('#login').onclick = () => manager.signinRedirect();
document.querySelector('#refresh').onclick = refresh;
document.querySelector('#logout').onclick = () => manager.signoutRedirect();
