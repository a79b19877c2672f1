import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { FIRST_SCOPES, type Resource, resourceUri } from '../platform/http/resources.ts';

type Parameters = Record<string, unknown>;

/** The endpoints at which an authorization request arrives that has a page of its own. */
const AUTHORIZATION_REQUESTS = new Set(['authorization', 'pushed_authorization_request']);

/** The prompts that the metadata list. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'];

/** Returns the identifiers of the service's own resources (RFC 8707). */
export const resourcesOf = (publicUrl: string): string[] =>
  (['mcp', 'api'] satisfies Resource[]).map((resource) => resourceUri(publicUrl, resource));

/** Returns what is wrong with another resource. */
export const resourceHint = (publicUrl: string): string =>
  `the resource must be ${resourcesOf(publicUrl).join(' for the MCP server, or ')} for the API`;

/**
 * Makes oidc-provider read the parameters of every request as `readParameters` does, before it checks them: those of a query, of a
 * form and of a stored request.
 */
export function applyParameterRules({ OIDCContext: { prototype } }: Provider, publicUrl: string, { InvalidTarget }: typeof errors): void {
  const known = new WeakMap<object, Parameters>();
  Object.defineProperty(prototype, 'params', {
    get(this: KoaContextWithOIDC['oidc']) {
      return known.get(this);
    },
    set(this: KoaContextWithOIDC['oidc'], parameters: Parameters) {
      const read = Object.assign(parameters, readParameters(parameters, this.route, publicUrl));
      // Checked before anything is used up: oidc-provider consumes a code or a refresh token before it looks at the resource.
      if (
        this.route === 'token' &&
        read.resource !== undefined &&
        ![read.resource].flat().every((each) => resourcesOf(publicUrl).includes(String(each)))
      )
        throw new InvalidTarget(resourceHint(publicUrl));
      known.set(this, read);
    },
  });
}

/**
 * Returns the parameters of a request that are read in another way than they were sent:
 * - `resource` in the spelling of the resource that it means, so that what is granted does not depend on a final slash;
 * - `prompt=create` (Initiating User Registration via OpenID Connect 1.0 §4.1) as `login`: nobody has to register here;
 * - the default scope in an authorization request for a resource that has none (RFC 6749 §3.3): a program may know no scope.
 * @param route of oidc-provider
 */
export function readParameters(parameters: Parameters, route: string, publicUrl: string): Parameters {
  const { prompt, resource, scope } = parameters;
  const read: Parameters = {};
  if (resource !== undefined)
    read.resource = Array.isArray(resource)
      ? [...new Set(resource.map((each) => spellingOf(each, publicUrl)))]
      : spellingOf(resource, publicUrl);
  if (typeof prompt === 'string' && /\bcreate\b/.test(prompt))
    read.prompt = [...new Set(prompt.split(' ').map((each) => (each === 'create' ? 'login' : each)))].join(' ');
  if (AUTHORIZATION_REQUESTS.has(route) && scope === undefined && resource !== undefined) read.scope = FIRST_SCOPES.join(' ');
  return read;
}

/** Returns the identifier of the own resource that a text means; any other text unchanged. */
function spellingOf(resource: unknown, publicUrl: string): unknown {
  if (typeof resource !== 'string' || !URL.canParse(resource)) return resource;
  const plain = new URL(resource).href.replace(/\/$/, '');
  return resourcesOf(publicUrl).includes(plain) ? plain : resource;
}
