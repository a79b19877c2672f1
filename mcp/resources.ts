import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { ApiError } from '../contract/client.ts';
import { hasCode } from '../contract/errors.ts';
import { findByDomain } from '../contract/urls.ts';
import { oneLine } from '../diagnostics/check.ts';
import { docPages } from '../docs/pages.ts';
import { readDoc } from '../docs/read.ts';
import { frameworkOf, frameworks } from '../templates/catalog.ts';
import { completeOwnDomains } from './caller.ts';
import { formatIntegration, frameworkIds, renderIntegration } from './integration.ts';
import { describeError, type McpContext } from './tool.ts';
import { toSiteWithProof } from './tools/sites.ts';

const MARKDOWN = 'text/markdown';
const JSON_TYPE = 'application/json';

/** The domain in templates that are read without one. */
const PLACEHOLDER_DOMAIN = 'shop.example';

/** Registers what clients can read: the documentation, the templates, the caller's websites and the description of the API. */
export function registerResources(server: McpServer, context: McpContext): void {
  const { client, host } = context;
  const completeFrom = (values: readonly string[]) => (typed: string) => values.filter((value) => value.startsWith(typed.toLowerCase()));

  server.registerResource(
    'docs',
    new ResourceTemplate('emailauth://docs/{slug}', {
      list: () => ({
        resources: docPages.map(({ slug, title, description }) => ({
          uri: `emailauth://docs/${slug}`,
          name: `docs/${slug}`,
          title,
          description,
        })),
      }),
      complete: { slug: completeFrom(docPages.map(({ slug }) => slug)) },
    }),
    { title: 'Documentation', description: 'A page of the documentation', mimeType: MARKDOWN },
    (uri, { slug }) => readResource(uri, MARKDOWN, context, () => readDoc(decodeUriPart(String(slug)), { origin: host })),
  );

  server.registerResource(
    'templates',
    new ResourceTemplate('emailauth://templates/{framework}', {
      list: () => ({
        resources: frameworks.map(({ id, name }) => ({
          uri: `emailauth://templates/${id}`,
          name: `templates/${id}`,
          title: name,
          description: `The files that add the sign-in to an app with ${name}, for ${PLACEHOLDER_DOMAIN}`,
        })),
      }),
      complete: { framework: completeFrom(frameworkIds) },
    }),
    {
      title: 'Templates',
      description: `The files for a framework, for ${PLACEHOLDER_DOMAIN}; scaffold_integration takes other domains`,
      mimeType: MARKDOWN,
    },
    (uri, { framework: id }) =>
      readResource(uri, MARKDOWN, context, async () => {
        const framework = frameworkOf(String(id));
        if (!framework) return null;
        const filling = { origin: host, domain: PLACEHOLDER_DOMAIN };
        return formatIntegration(`Email sign-in with ${framework.name}`, await renderIntegration(framework, filling));
      }),
  );

  server.registerResource(
    'sites',
    new ResourceTemplate('emailauth://sites/{domain}', {
      list: async () => {
        const sites = await orProtocolError(context, () => client.listWebsites({}).catch(emptyIfAnonymous));
        return {
          resources: sites.map(({ domain }) => ({
            uri: `emailauth://sites/${domain}`,
            name: `sites/${domain}`,
            title: domain,
            description: `Your website ${domain}`,
          })),
        };
      },
      complete: { domain: (typed) => completeOwnDomains(client, typed) },
    }),
    { title: 'My websites', description: 'A website of the signed-in account', mimeType: JSON_TYPE },
    (uri, { domain }) =>
      readResource(uri, JSON_TYPE, context, async () => {
        const site = findByDomain(await client.listWebsites({}), decodeUriPart(String(domain)));
        return site ? JSON.stringify(toSiteWithProof(site), null, 2) : null;
      }),
  );

  server.registerResource(
    'openapi',
    'emailauth://openapi.json',
    { title: 'OpenAPI description', description: 'Every call of the HTTP API, as OpenAPI 3.1', mimeType: JSON_TYPE },
    (uri) => readResource(uri, JSON_TYPE, context, async () => JSON.stringify(await context.openApi(), null, 2)),
  );
}

/** Returns the content of a resource. @param read returns null when there is no such resource. @throws ProtocolError */
async function readResource(
  uri: URL,
  mimeType: string,
  context: McpContext,
  read: () => Promise<string | null>,
): Promise<ReadResourceResult> {
  const text = await orProtocolError(context, read);
  if (text === null) throw new ResourceNotFoundError(oneLine(uri.href, 300));
  return { contents: [{ uri: uri.href, mimeType, text }] };
}

/** Runs the work of a resource or prompt. As these have no `isError`, an error becomes one of the protocol. @throws ProtocolError */
export async function orProtocolError<Result>(context: McpContext, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isCallersError = error instanceof ApiError && error.status >= 400 && error.status < 500;
    throw new ProtocolError(
      isCallersError ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      describeError(error, context),
    );
  }
}

function emptyIfAnonymous(error: unknown): never[] {
  if (hasCode(error, 'sign_in_needed') || hasCode(error, 'bad_api_key')) return [];
  throw error;
}

/** Decodes a part of a URI, which is percent-encoded for instance when a domain is in another script. */
function decodeUriPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
