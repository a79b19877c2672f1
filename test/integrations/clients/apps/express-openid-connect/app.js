import express from 'express';
import openid from 'express-openid-connect';
import session from 'express-session';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, PORT, SESSION_SECRET } = process.env;

const app = express();
app.use(
  openid.auth({
    issuerBaseURL: ISSUER,
    baseURL: APP_URL,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: SESSION_SECRET,
    authRequired: false,
    authorizationParams: { response_type: 'code', scope: 'openid email offline_access', prompt: 'consent' },
    // Also ends the session at the provider.
    idpLogout: true,
    // The provider reports a sign-out that began elsewhere to /backchannel-logout.
    backchannelLogout: { store: new session.MemoryStore() },
  }),
);

// The middleware adds /login, /callback and /logout.
app.get('/', ({ oidc }, response) => response.json(oidc.user ? { sub: oidc.user.sub, email: oidc.user.email } : null));

app.get('/refresh', async ({ oidc }, response) => {
  await oidc.accessToken.refresh();
  const { sub, email } = await oidc.fetchUserInfo();
  response.json({ sub, email });
});

app.use((error, _request, response, _next) => {
  response.status(401).json({ error: error.error ?? error.message });
});

app.listen(PORT);
