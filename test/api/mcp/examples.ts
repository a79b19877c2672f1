import { addGrant } from '../../support/grants.ts';
import type { Service, Stage } from '../../support/harness.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../../support/sign-ins.ts';

/** The data that the calls of the tools need. */
export type Scene = {
  stage: Stage;
  service: Service;
  /** The account that the MCP server uses or signs in. */
  owner: Developer;
  /** The input and result of each tool. */
  calls: Map<string, { input: Record<string, unknown>; response: Record<string, unknown> }>;
};

type Example = (scene: Scene) => Record<string, unknown> | Promise<Record<string, unknown>>;

const examples: Record<string, Example> = {
  get_status: () => ({}),
  register_domain: () => ({ domain: freshDomain(), email: freshAddress('owner') }),
  list_frameworks: () => ({}),
  scaffold_integration: async (scene) => ({ framework: 'express', domain: await ownSite(scene), language: 'lv' }),
  check_integration: async (scene) => {
    const domain = await ownSite(scene);
    await scene.stage.query('update websites set proven_at = now() where domain = $1', [domain]);
    return { domain };
  },
  explain_sign_in: async (scene) => {
    const domain = await ownSite(scene);
    await visitorToken(scene.stage, scene.service.client(), domain);
    return { domain, since: '1h' };
  },
  verify_token: async (scene) => {
    const domain = await ownSite(scene);
    return { token: await visitorToken(scene.stage, scene.service.client(), domain), domain };
  },
  search_docs: () => ({ query: 'state cookie of the callback' }),
  start_login: ({ owner }) => ({ email: owner.email }),
  complete_login: async ({ stage, owner, calls }) => ({
    loginId: calls.get('start_login')?.response.loginId,
    code: (await stage.mailbox.waitFor(owner.email)).code,
  }),
  list_sites: () => ({}),
  get_site: async (scene) => ({ domain: await ownSite(scene) }),
  update_site: async (scene) => {
    const domain = await ownSite(scene);
    return { domain, newDomain: freshDomain(), confirmDomain: domain };
  },
  delete_site: async (scene) => {
    const domain = await ownSite(scene);
    return { domain, confirmDomain: domain };
  },
  prove_domain: async (scene) => ({ domain: await ownSite(scene) }),
  get_stats: () => ({}),
  list_applications: () => ({}),
  get_application: async (scene) => ({ clientId: (await ownApplication(scene)).clientId }),
  create_application: () => ({ name: 'Notes', redirectUris: [REDIRECT_URI] }),
  update_application: async (scene) => ({ clientId: (await ownApplication(scene)).clientId, name: 'More notes' }),
  delete_application: async (scene) => {
    const { clientId, name } = await ownApplication(scene);
    return { clientId, confirmName: name };
  },
  list_api_keys: () => ({}),
  revoke_api_key: async ({ owner }) => {
    const { keyId, name } = (await owner.client.post('/api/api-keys', { name: 'Script', environment: 'live' })).json;
    return { keyId, confirmName: name };
  },
  list_devices: () => ({}),
  sign_out_device: async ({ stage, service, owner }) => {
    const devices = async (): Promise<{ id: string; label: string }[]> => (await owner.client.get('/api/user/devices')).json;
    const before = (await devices()).map(({ id }) => id);
    await signInDeveloper(stage, service, owner.email);
    const [{ id, label }] = (await devices()).filter((device) => !before.includes(device.id));
    return { deviceId: id, confirmLabel: label };
  },
  list_connections: () => ({}),
  revoke_connection: async ({ stage, owner }) => {
    const clientId = `https://${freshDomain()}`;
    await addGrant(stage, { email: owner.email, clientId });
    const [{ id, name }] = (await owner.client.get('/api/user/connections')).json;
    return { connectionId: id, confirmName: name };
  },
  get_account: () => ({}),
  update_account: () => ({ organization: 'Analytical Engines', fromName: 'Notes' }),
};

/** Returns an input with which a tool must succeed. @throws Error for a tool without one: add it above */
export async function exampleFor(tool: string, scene: Scene): Promise<Record<string, unknown>> {
  const example = examples[tool];
  if (!example) throw new Error(`The tool ${tool} has no example in test/api/mcp/examples.ts.`);
  return example(scene);
}

const REDIRECT_URI = 'https://notes.example/callback';

async function ownApplication({ owner }: Scene): Promise<{ clientId: string; name: string }> {
  const response = await owner.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT_URI] });
  if (response.status !== 200) throw new Error(`Adding an application answered ${response.status}: ${response.text}`);
  return response.json;
}

async function ownSite({ owner }: Scene): Promise<string> {
  const domain = freshDomain();
  const response = await owner.client.post('/api/websites', { domain });
  if (response.status !== 200) throw new Error(`Adding ${domain} answered ${response.status}: ${response.text}`);
  return domain;
}
