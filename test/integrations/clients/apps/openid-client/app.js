import express from 'express';
import session from 'express-session';
import * as client from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, PORT, SESSION_SECRET } = process.env;
const provider = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET);

const app = express();
const cookie = { httpOnly: true, sameSite: 'lax', secure: APP_URL.startsWith('https:') };
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false, cookie }));

app.get('/', (request, response) => response.json(request.session.user ?? null));

app.get('/login', async (request, response) => {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  request.session.login = { verifier, state };
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: `${APP_URL}/callback`,
    scope: 'openid email offline_access',
    // Asked for together with offline_access, which the user must agree to (OpenID Connect Core §11).
    prompt: 'consent',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const { verifier, state } = request.session.login ?? {};
  const tokens = await client.authorizationCodeGrant(provider, new URL(request.originalUrl, APP_URL), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    idTokenExpected: true,
  });
  const { sub, email } = tokens.claims();
  request.session.regenerate(() => {
    Object.assign(request.session, { user: { sub, email }, idToken: tokens.id_token, refreshToken: tokens.refresh_token });
    response.redirect('/');
  });
});

app.get('/refresh', async (request, response) => {
  const tokens = await client.refreshTokenGrant(provider, request.session.refreshToken);
  request.session.refreshToken = tokens.refresh_token ?? request.session.refreshToken;
  response.json(await client.fetchUserInfo(provider, tokens.access_token, request.session.user.sub));
});

app.get('/logout', (request, response) => {
  const { idToken } = request.session;
  const url = client.buildEndSessionUrl(provider, { id_token_hint: idToken, post_logout_redirect_uri: `${APP_URL}/` });
  request.session.destroy(() => response.redirect(url.href));
});

// For example { "error": "invalid_grant" } once the user has revoked the application.
app.use((error, _request, response, _next) => {
  response.status(401).json({ error: error.error ?? error.message });
});

app.listen(PORT);
