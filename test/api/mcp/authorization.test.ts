import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuthority } from '../../support/certificates.ts';
import { useService } from '../../support/harness.ts';
import { completeSignIn, visit } from '../../support/oidc-driver.ts';
import { addWebsite, type Developer, freshDomain, signInDeveloper } from '../../support/sign-ins.ts';

const REDIRECT = 'http://127.0.0.1:33418/callback';

const { stage, service } = await useService();
let ann: Developer;
let documents: { clientId: string; close(): Promise<void> };
beforeAll(async () => {
  ann = await signInDeveloper(stage, service);
  documents = await publishMetadata();
});
afterAll(async () => {
  await documents?.close();
  await stage?.close();
});

/** Serves a client ID metadata document over https on this machine. */
async function publishMetadata() {
  const authority = await openAuthority();
  const server = createServer(await authority.issue('localhost', 2), (request, response) => {
    const document = { ...METADATA, client_id: `https://${request.headers.host}${request.url}` };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    clientId: `https://localhost:${(server.address() as AddressInfo).port}/client.json`,
    async close() {
      server.closeAllConnections();
      server.close();
      await authority.close();
    },
  };
}

const METADATA = {
  client_name: 'Assistant',
  redirect_uris: [REDIRECT],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

/** What an assistant keeps: the provider of the official client, with the authorization URL instead of a browser window. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata: OAuthClientMetadata = METADATA;
  readonly clientMetadataUrl?: string;
  kept: { client?: { client_id: string }; tokens?: OAuthTokens; verifier?: string } = {};
  /** The authorization URLs that the person was sent to. */
  readonly opened: URL[] = [];

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl) this.clientMetadataUrl = clientMetadataUrl;
  }

  state = () => 'state-of-the-assistant';
  clientInformation = () => this.kept.client;
  saveClientInformation = (client: { client_id: string }) => {
    this.kept.client = client;
  };
  tokens = () => this.kept.tokens;
  saveTokens = (tokens: OAuthTokens) => {
    this.kept.tokens = tokens;
  };
  redirectToAuthorization = (url: URL) => void this.opened.push(url);
  saveCodeVerifier = (verifier: string) => {
    this.kept.verifier = verifier;
  };
  codeVerifier = () => this.kept.verifier ?? '';
  invalidateCredentials = (scope: string) => {
    if (scope === 'all' || scope === 'tokens') this.kept.tokens = undefined;
    if (scope === 'all' || scope === 'client') this.kept.client = undefined;
  };
}

/** Calls a tool as an assistant: a new connection with what it keeps. */
async function callTool(keeper: Keeper, name: string, input: Record<string, unknown> = {}) {
  const client = new Client({ name: 'emailauth-tests', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.url), { authProvider: keeper });
  try {
    await client.connect(transport);
    const { isError, structuredContent } = await client.callTool({ name, arguments: input });
    // biome-ignore lint/suspicious/noExplicitAny: the tests check results of any shape.
    return { isError: isError === true, response: structuredContent as any };
  } finally {
    await client.close().catch(() => {});
  }
}

/** Calls a tool that needs authorization, which the developer gives in a browser. @returns the scopes that the assistant requested */
async function authorizeFor(keeper: Keeper, name: string, input: Record<string, unknown> = {}): Promise<string[]> {
  const before = keeper.opened.length;
  await expect(callTool(keeper, name, input)).rejects.toThrow(UnauthorizedError);
  expect(keeper.opened).toHaveLength(before + 1);
  const url = keeper.opened[before];
  const begun = await visit(service.client(), url.pathname + url.search);
  expect(begun.boot.target).toMatchObject({ kind: 'application', name: 'Assistant', host: '127.0.0.1' });
  const browser = service.client();
  const callback = await completeSignIn(stage, browser, await visit(browser, url.pathname + url.search), ann.email);
  expect([callback.origin + callback.pathname, callback.searchParams.get('state')]).toEqual([REDIRECT, 'state-of-the-assistant']);
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.url), { authProvider: keeper });
  await transport.finishAuth(callback.searchParams);
  return (url.searchParams.get('scope') ?? '').split(' ');
}

describe.each([
  ['a client ID metadata document', () => new Keeper(documents.clientId), () => documents.clientId],
  ['dynamic registration', () => new Keeper(), () => expect.stringMatching(/^dcr_/)],
])('the official client by %s', (_, open, clientId) => {
  let keeper: Keeper;
  let scopes: string[];
  beforeAll(async () => {
    keeper = open();
    scopes = await authorizeFor(keeper, 'list_sites');
  });

  test('enters with a sign-in by email and no key, as a public client with PKCE', async () => {
    const domain = await addWebsite(stage, service);
    await stage.query('update websites set email = $1 where domain = $2', [ann.email, domain]);
    const { isError, response } = await callTool(keeper, 'list_sites');
    expect([isError, JSON.stringify(response)]).toEqual([false, expect.stringContaining(domain)]);
    expect(keeper.kept.client?.client_id ?? keeper.opened[0].searchParams.get('client_id')).toEqual(clientId());
    expect(keeper.opened[0].searchParams.get('code_challenge_method')).toBe('S256');
    expect(keeper.opened[0].searchParams.get('resource')).toBe(`${service.url}/mcp`);
    expect(scopes).not.toContain('websites:write');
  });

  test('needs no authorization for the tools that nobody has to sign in for', async () => {
    const anonymous = open();
    expect((await callTool(anonymous, 'list_frameworks')).isError).toBe(false);
    expect(anonymous.opened).toEqual([]);
  });

  test('refreshes by itself when its access token is refused', async () => {
    const { tokens } = keeper.kept;
    expect(tokens?.refresh_token).toEqual(expect.any(String));
    keeper.kept.tokens = { ...(tokens as OAuthTokens), access_token: `${tokens?.access_token.slice(0, -4)}AAAA` };
    const opened = keeper.opened.length;
    expect((await callTool(keeper, 'list_sites')).isError).toBe(false);
    expect(keeper.opened).toHaveLength(opened);
    expect(keeper.kept.tokens?.refresh_token).not.toBe(tokens?.refresh_token);
  });

  test('steps up for a tool that changes something, and keeps what it had', async () => {
    const [domain, newDomain] = [await addWebsite(stage, service), freshDomain()];
    await stage.query('update websites set email = $1 where domain = $2', [ann.email, domain]);
    const wanted = await authorizeFor(keeper, 'update_site', { domain, newDomain, confirmDomain: domain });
    expect(wanted).toEqual(expect.arrayContaining(['websites:read', 'websites:write']));
    expect(await callTool(keeper, 'update_site', { domain, newDomain, confirmDomain: domain })).toMatchObject({ isError: false });
    expect(await stage.query('select email from websites where domain = $1', [newDomain])).toEqual([{ email: ann.email }]);
    expect((await callTool(keeper, 'list_sites')).isError).toBe(false);
  });

  test('is refused at once when the person revokes the connection', async () => {
    const connections: { id: string; clientId: string }[] = (await ann.client.get('/api/user/connections')).json;
    const own = connections.find((each) => each.clientId === keeper.opened[0].searchParams.get('client_id'));
    expect(own).toBeDefined();
    expect((await ann.client.delete(`/api/user/connections/${own?.id}`)).status).toBe(200);
    const opened = keeper.opened.length;
    await expect(callTool(keeper, 'list_sites')).rejects.toThrow(UnauthorizedError);
    expect(keeper.opened).toHaveLength(opened + 1);
  });
});
