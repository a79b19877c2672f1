import { z } from 'zod';
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type Access, type CallSpec, calls } from './calls.ts';
import { errors } from './errors.ts';
import { RESOURCE_SCOPES, SCOPE_DESCRIPTIONS } from './scopes.ts';

const ErrorResponse = z
  .object({
    error: z.string(),
    code: z.enum(Object.keys(errors) as [string, ...string[]]),
    hint: z.string(),
    field: z.string().optional(),
    scope: z.string().optional().meta({ description: 'The scopes that are missing' }),
    reference: z.string().optional(),
    triesLeft: z.number().int().optional().meta({ description: 'How many more codes can be tried for the email' }),
  })
  .meta({ id: 'Error' });

/** The version of the API, whatever that of the service is. */
const API_VERSION = '1.0';

/** Returns the OpenAPI 3.1 document of the API. */
export function openApiDocument(publicUrl: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, call] of Object.entries(calls as Record<string, CallSpec>)) {
    if (call.development) continue;
    paths[call.path] = { ...paths[call.path], [call.method.toLowerCase()]: operationOf(name, call) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Email Auth',
      version: API_VERSION,
      description: 'Passwordless email sign-in for any website.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or the access_token of a sign-in' },
        oauth: {
          type: 'oauth2',
          description: `An access token for the resource ${publicUrl}/api (RFC 8707)`,
          flows: {
            authorizationCode: {
              authorizationUrl: `${publicUrl}/oauth/authorize`,
              tokenUrl: `${publicUrl}/oauth/token`,
              scopes: Object.fromEntries(RESOURCE_SCOPES.map((scope) => [scope, SCOPE_DESCRIPTIONS[scope]])),
            },
          },
        },
        cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
        admin: { type: 'apiKey', in: 'cookie', name: 'admin' },
      },
    },
  });
}

const securityOf: Partial<Record<Access, Record<string, string[]>[]>> = {
  identity: [{ bearer: [] }, { oauth: [] }, { cookie: [] }],
  account: [{ bearer: [] }, { cookie: [] }],
  person: [{ bearer: [] }, { cookie: [] }],
  admin: [{ admin: [] }],
};

function operationOf(operationId: string, call: CallSpec) {
  const input = call.input as z.ZodObject;
  const security = securityOf[call.access];
  const pathKeys = [...call.path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
  const inPath = Object.fromEntries(pathKeys.map((key) => [key, true as const])) as Record<string, never>;
  const rest = input.omit(inPath);
  const inQuery = call.method === 'GET' || call.method === 'DELETE';
  const hasMore = Object.keys(rest.shape).length > 0;
  return {
    operationId,
    summary: call.summary,
    ...(security && { security: call.scope ? [...security, { oauth: [call.scope] }] : security }),
    requestParams: { ...(pathKeys.length > 0 && { path: input.pick(inPath) }), ...(inQuery && hasMore && { query: rest }) },
    ...(!inQuery &&
      hasMore && {
        requestBody: {
          content: { 'application/json': { schema: rest }, ...(call.oauth && { 'application/x-www-form-urlencoded': { schema: rest } }) },
        },
      }),
    responses: {
      '200': { description: 'Success', content: { 'application/json': { schema: call.output } } },
      default: { description: 'An error, with a sentence for people', content: { 'application/json': { schema: ErrorResponse } } },
    },
  };
}
