import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { oneLine } from '../contract/check.ts';
import { ApiError } from '../contract/client.ts';
import { docPages } from '../docs/pages.ts';
import { readDoc } from '../docs/read.ts';
import { frameworkOf, frameworks } from '../templates/catalog.ts';
import type { McpContext } from './context.ts';
import { frameworkIds, integrationFor, integrationText } from './integration.ts';
import { explain, isAnswer } from './result.ts';
import { ownDomains, siteAmong } from './sites.ts';
import { siteWithProofOf } from './tools/site.ts';

const MARKDOWN = 'text/markdown';
const JSON_TYPE = 'application/json';

/** Stands where a site's own domain goes. */
const PLACEHOLDER_DOMAIN = 'shop.example';

/** What clients can read: the documentation, the templates, the caller's own sites and the API's description. */
export function registerResources(server: McpServer, context: McpContext): void {
  const { client, host } = context;
  const startsLike = (values: readonly string[]) => (typed: string) => values.filter((value) => value.startsWith(typed.toLowerCase()));

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
      complete: { slug: startsLike(docPages.map(({ slug }) => slug)) },
    }),
    { title: 'Documentation', description: 'A page of the documentation', mimeType: MARKDOWN },
    (uri, { slug }) => reading(uri, MARKDOWN, context, () => readDoc(decoded(String(slug)), { origin: host })),
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
      complete: { framework: startsLike(frameworkIds) },
    }),
    {
      title: 'Templates',
      description: `The files for a framework, for ${PLACEHOLDER_DOMAIN}; scaffold_integration fills in others`,
      mimeType: MARKDOWN,
    },
    (uri, { framework: id }) =>
      reading(uri, MARKDOWN, context, async () => {
        const framework = frameworkOf(String(id));
        if (!framework) return null;
        const filling = { origin: host, domain: PLACEHOLDER_DOMAIN };
        return integrationText(`Email sign-in with ${framework.name}`, await integrationFor(framework, filling));
      }),
  );

  server.registerResource(
    'sites',
    new ResourceTemplate('emailauth://sites/{domain}', {
      list: async () => {
        const sites = await orProtocolError(context, () => client.listWebsites({}).catch(noneForNobody));
        return {
          resources: sites.map(({ domain }) => ({
            uri: `emailauth://sites/${domain}`,
            name: `sites/${domain}`,
            title: domain,
            description: `Your site ${domain}`,
          })),
        };
      },
      complete: { domain: (typed) => ownDomains(client, typed) },
    }),
    { title: 'My sites', description: 'One of the sites of whoever is signed in', mimeType: JSON_TYPE },
    (uri, { domain }) =>
      reading(uri, JSON_TYPE, context, async () => {
        const site = siteAmong(await client.listWebsites({}), decoded(String(domain)));
        return site ? JSON.stringify(siteWithProofOf(site), null, 2) : null;
      }),
  );

  server.registerResource(
    'openapi',
    'emailauth://openapi.json',
    { title: 'OpenAPI description', description: 'Every call of the HTTP API, as OpenAPI 3.1', mimeType: JSON_TYPE },
    (uri) => reading(uri, JSON_TYPE, context, async () => JSON.stringify(await context.openApi(), null, 2)),
  );
}

/** @param read null: there is no such thing. @throws ProtocolError */
async function reading(uri: URL, mimeType: string, context: McpContext, read: () => Promise<string | null>): Promise<ReadResourceResult> {
  const text = await orProtocolError(context, read);
  if (text === null) throw new ResourceNotFoundError(oneLine(uri.href, 300));
  return { contents: [{ uri: uri.href, mimeType, text }] };
}

/** Resources and prompts have no `isError`: what a tool would say is the message of the protocol's error. @throws ProtocolError */
export async function orProtocolError<Result>(context: McpContext, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isCallers = error instanceof ApiError && error.status >= 400 && error.status < 500;
    throw new ProtocolError(isCallers ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, explain(error, context));
  }
}

function noneForNobody(error: unknown): never[] {
  if (isAnswer(error, 'sign_in_needed') || isAnswer(error, 'bad_api_key')) return [];
  throw error;
}

/** What a URI has percent-encoded, a domain in another script for instance. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
