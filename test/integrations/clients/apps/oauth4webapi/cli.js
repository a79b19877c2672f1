import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';

const { ISSUER, CLIENT_ID } = process.env;
const issuer = new URL(ISSUER);
const server = await oauth.discoveryRequest(issuer).then((response) => oauth.processDiscoveryResponse(issuer, response));
const client = { client_id: CLIENT_ID };

// A program on the user's own machine is a public client. Any port of the loopback will do (RFC 8252 §7.3).
const listener = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => listener.once('listening', resolve));
const redirectUri = `http://127.0.0.1:${listener.address().port}/callback`;

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const url = new URL(server.authorization_endpoint);
url.search = new URLSearchParams({
  client_id: CLIENT_ID,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid email offline_access',
  prompt: 'consent',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
});
console.log(`Open ${url}`);

const callback = await new Promise((resolve) => {
  listener.on('request', (request, response) => {
    response.end('Signed in. You can close this window.');
    if (request.url.startsWith('/callback')) resolve(new URL(request.url, redirectUri));
  });
});
listener.close();

const parameters = oauth.validateAuthResponse(server, client, callback, state);
const granted = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, redirectUri, verifier);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, granted, { requireIdToken: true });
const { sub, email, acr } = oauth.getValidatedIdTokenClaims(tokens);
console.log(`Signed in ${JSON.stringify({ sub, email, acr })}`);

const refreshed = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token);
const { access_token, refresh_token } = await oauth.processRefreshTokenResponse(server, client, refreshed);
const answer = await oauth.userInfoRequest(server, client, access_token);
console.log(`Refreshed ${JSON.stringify(await oauth.processUserInfoResponse(server, client, sub, answer))}`);

await oauth.revocationRequest(server, client, oauth.None(), refresh_token).then(oauth.processRevocationResponse);
const refused = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh_token);
await oauth.processRefreshTokenResponse(server, client, refused).catch(({ error }) => console.log(`Revoked ${error}`));
