import { decodeJwt } from 'jose';
import type { Page } from 'playwright';
import { createPkce } from '../../contract/pkce.ts';
import type { HttpResponse } from '../support/client.ts';
import { postForm } from '../support/oidc-client.ts';
import { signInDeveloper } from '../support/sign-ins.ts';
import type { Scene } from './scene.ts';

/** An application whose pages are those of the test website. */
export type RelyingParty = {
  clientId: string;
  redirectUri: string;
  logoutUri: string;
  /** Returns the URL of a new authorization request. */
  requestUrl(parameters?: Record<string, string>): Promise<string>;
  /** Waits until the browser returned to the application. Returns the parameters of the response. */
  returned(page: Page): Promise<URLSearchParams>;
  /** Exchanges the code of the latest request with the client secret. */
  exchange(code: string | null): Promise<HttpResponse>;
  post(path: string, fields: Record<string, string>): Promise<HttpResponse>;
};

/** Registers a confidential application named Team notes, whose redirect URI is on the test website. */
export async function openRelyingParty({ stage, service, shop }: Scene): Promise<RelyingParty> {
  const { client } = await signInDeveloper(stage, service);
  const [redirectUri, logoutUri] = [`${shop.url}/callback`, `${shop.url}/goodbye`];
  const { json } = await client.post('/api/clients', {
    name: 'Team notes',
    redirectUris: [redirectUri],
    logoutUris: [logoutUri],
    authentication: 'secret',
    scopes: ['openid', 'email', 'profile', 'offline_access', 'websites:read'],
  });
  const { clientId, clientSecret } = json;
  const basic = { Authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
  let verifier = '';
  const post = (path: string, fields: Record<string, string>) => postForm(service.client(), path, fields, basic);
  return {
    clientId,
    redirectUri,
    logoutUri,
    async requestUrl(parameters = {}) {
      const { codeVerifier, codeChallenge, state } = await createPkce();
      verifier = codeVerifier;
      const required = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid email', state };
      const query = { ...required, code_challenge: codeChallenge, code_challenge_method: 'S256', ...parameters };
      return `${service.url}/oauth/authorize?${new URLSearchParams(query)}`;
    },
    async returned(page) {
      await page.waitForURL((url) => url.href.startsWith(`${redirectUri}?`));
      return new URL(page.url()).searchParams;
    },
    exchange: (code) =>
      post('/oauth/token', { grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri, code_verifier: verifier }),
    post,
  };
}

/** Returns the address in the ID token of a token response. */
export function emailOf({ json, text }: HttpResponse): unknown {
  if (!json.id_token) throw new Error(`There is no ID token: ${text}`);
  return decodeJwt(json.id_token).email;
}
