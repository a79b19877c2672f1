import { Router } from 'express';
import { RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { docPath } from '../../docs/pages.ts';
import { metadataPath, type Resource, resourceUri } from '../http/errors.ts';

const NAMES: Record<Resource, string> = { mcp: 'MCP server of Email Auth', api: 'API of Email Auth' };

/** Metadata of the resources (RFC 9728), by which a client finds the authorization server. Pages of other origins may read it. */
export function protectedResourcesRouter({ publicUrl, headers }: { publicUrl: string; headers: Record<string, string> }): Router {
  const router = Router();
  for (const resource of Object.keys(NAMES) as Resource[]) {
    const body = JSON.stringify({
      resource: resourceUri(publicUrl, resource),
      authorization_servers: [publicUrl],
      scopes_supported: RESOURCE_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: NAMES[resource],
      resource_documentation: publicUrl + docPath(resource === 'mcp' ? 'assistants' : 'api'),
    });
    router.get(metadataPath(resource), (_, response) => {
      response.set({ ...headers, ...READABLE, 'Content-Type': 'application/json; charset=utf-8' }).send(body);
    });
  }
  return router;
}

const READABLE = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=300',
};
