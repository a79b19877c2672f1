import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, PORT, SESSION_SECRET } = process.env;

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: ISSUER,
      authorizationURL: `${ISSUER}/oauth/authorize`,
      tokenURL: `${ISSUER}/oauth/token`,
      userInfoURL: `${ISSUER}/oauth/userinfo`,
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `${APP_URL}/callback`,
      scope: ['email', 'offline_access'],
      prompt: 'consent',
      // Required: this strategy has no PKCE, so the nonce is what ties the code to this browser.
      nonce: true,
    },
    function verify(_issuer, profile, _context, idToken, _accessToken, refreshToken, done) {
      return done(null, { sub: profile.id, email: profile.emails[0].value, idToken, refreshToken });
    },
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
const cookie = { httpOnly: true, sameSite: 'lax', secure: APP_URL.startsWith('https:') };
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false, cookie }));
app.use(passport.session());

app.get('/', ({ user }, response) => response.json(user ? { sub: user.sub, email: user.email } : null));

app.get('/login', passport.authenticate('openidconnect'));

app.get('/callback', passport.authenticate('openidconnect'), (_request, response) => response.redirect('/'));

// Passport leaves the refresh of tokens to the app: one POST (RFC 6749 §6).
app.get('/refresh', async ({ user }, response) => {
  const answer = await fetch(`${ISSUER}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: user.refreshToken }),
  });
  const tokens = await answer.json();
  if (!answer.ok) return response.status(401).json({ error: tokens.error });
  user.refreshToken = tokens.refresh_token ?? user.refreshToken;
  response.json({ sub: user.sub });
});

app.get('/logout', (request, response, next) => {
  const { idToken } = request.user;
  const parameters = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: `${APP_URL}/` });
  request.logout((error) => (error ? next(error) : response.redirect(`${ISSUER}/oauth/logout?${parameters}`)));
});

app.listen(PORT);
