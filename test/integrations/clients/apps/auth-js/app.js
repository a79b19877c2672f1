import { getToken } from '@auth/core/jwt';
import { ExpressAuth, getSession } from '@auth/express';
import express from 'express';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, AUTH_SECRET, PORT } = process.env;
const secureCookie = APP_URL.startsWith('https:');

const config = {
  providers: [
    {
      id: 'emailauth',
      name: 'Email',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: 'openid email offline_access', prompt: 'consent' } },
      checks: ['pkce', 'state'],
    },
  ],
  callbacks: {
    // The cookie of the session is encrypted, so that it may hold tokens.
    jwt({ token, account, profile, trigger }) {
      if (account) return { ...token, ...tokensOf(account), sub: profile.sub, email: profile.email };
      return Date.now() < token.expiresAt && trigger !== 'update' ? token : refresh(token);
    },
    session({ session, token }) {
      return { ...session, user: { sub: token.sub, email: token.email }, error: token.error };
    },
  },
};

const tokensOf = ({ id_token, refresh_token, expires_in }) => ({
  idToken: id_token,
  refreshToken: refresh_token,
  expiresAt: Date.now() + expires_in * 1000,
});

// Auth.js leaves the refresh of tokens to this callback: one POST (RFC 6749 §6).
async function refresh(token) {
  const response = await fetch(`${ISSUER}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token.refreshToken }),
  });
  const tokens = await response.json();
  return response.ok ? { ...token, ...tokensOf({ ...token, ...tokens }) } : { ...token, error: tokens.error };
}

const app = express();
app.set('trust proxy', true);
app.use('/auth', ExpressAuth(config));

app.get('/', async (request, response) => response.json((await getSession(request, config))?.user ?? null));

// Auth.js signs out of the app; this also ends the session at the provider.
app.get('/logout', async (request, response) => {
  const req = new Request(APP_URL, { headers: request.headers });
  const { idToken } = (await getToken({ req, secret: AUTH_SECRET, secureCookie })) ?? {};
  response.clearCookie(`${secureCookie ? '__Secure-' : ''}authjs.session-token`);
  response.redirect(`${ISSUER}/oauth/logout?${new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: `${APP_URL}/` })}`);
});

app.listen(PORT);
