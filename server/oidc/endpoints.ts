/** The paths of the provider by their names in the configuration of oidc-provider. */
export const PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  jwks: '/oauth/jwks',
  userinfo: '/oauth/userinfo',
  introspection: '/oauth/introspect',
  revocation: '/oauth/revoke',
  end_session: '/oauth/logout',
  code_verification: '/oauth/device',
  device_authorization: '/oauth/device/authorize',
  pushed_authorization_request: '/oauth/par',
  registration: '/oauth/register',
} as const;

const INTERACTION = '/oauth/interaction';

/** The path of the page of an interaction. */
export const interactionPath = (uid: string) => `${INTERACTION}/${uid}`;

const READ = ['GET', 'HEAD'];
const POST = ['POST'];
const BOTH = [...READ, ...POST];
/** Of the endpoints that pages of other origins may call. */
const PREFLIGHT = ['OPTIONS'];

/** The methods of each endpoint. The names are those of the routes of oidc-provider, which has no route for `interaction`. */
const METHODS = {
  authorization: BOTH,
  resume: READ,
  token: [...POST, ...PREFLIGHT],
  jwks: [...READ, ...PREFLIGHT],
  userinfo: [...BOTH, ...PREFLIGHT],
  introspection: [...POST, ...PREFLIGHT],
  revocation: [...POST, ...PREFLIGHT],
  end_session: BOTH,
  end_session_confirm: POST,
  end_session_success: READ,
  code_verification: BOTH,
  device_resume: READ,
  device_authorization: [...POST, ...PREFLIGHT],
  pushed_authorization_request: [...POST, ...PREFLIGHT],
  registration: [...POST, ...PREFLIGHT],
  discovery: [...READ, ...PREFLIGHT],
  interaction: READ,
} as const satisfies Record<string, readonly string[]>;

type EndpointName = keyof typeof METHODS;

/** An endpoint of the provider. */
export type OpenIdEndpoint = {
  name: EndpointName;
  methods: readonly string[];
  /** The id of the authorization request that the path contains. */
  uid?: string;
};

const NAMES: ReadonlyMap<string, EndpointName> = new Map<string, EndpointName>([
  ...(Object.entries(PATHS) as [EndpointName, string][]).map(([name, path]): [string, EndpointName] => [path, name]),
  [`${PATHS.end_session}/confirm`, 'end_session_confirm'],
  [`${PATHS.end_session}/success`, 'end_session_success'],
  ['/.well-known/openid-configuration', 'discovery'],
  ['/.well-known/oauth-authorization-server', 'discovery'],
]);

const BELOW: ReadonlyMap<string, EndpointName> = new Map([
  [PATHS.authorization, 'resume'],
  [PATHS.code_verification, 'device_resume'],
  [INTERACTION, 'interaction'],
]);

const WITH_UID = /^(\/oauth\/[a-z]+)\/([A-Za-z0-9_-]{21,64})$/;

/**
 * Returns the endpoint at a path, or null. Everything that depends on the endpoint of a request asks here. oidc-provider also accepts
 * other spellings of a path (case, a final slash), which have no endpoint.
 * @param path as it was sent, without the query
 */
export function endpointAt(path: string): OpenIdEndpoint | null {
  const name = NAMES.get(path);
  if (name) return { name, methods: METHODS[name] };
  const [, above = '', uid] = WITH_UID.exec(path) ?? [];
  const below = BELOW.get(above);
  return below ? { name: below, methods: METHODS[below], uid } : null;
}
