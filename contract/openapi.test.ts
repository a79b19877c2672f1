import { expect, test } from 'vitest';
import { type CallSpec, calls } from './calls.ts';
import { openApiDocument } from './openapi.ts';

type Operation = { operationId: string; parameters?: { name: string; in: string }[]; requestBody?: object; security?: object[] };
const document = openApiDocument('https://auth.example') as { paths: Record<string, Record<string, Operation>> };

const published = Object.entries(calls as Record<string, CallSpec>).filter(([, call]) => !call.development);

test.each(published)('%s is in the document as in the contract', (name, call) => {
  const operation = document.paths[call.path][call.method.toLowerCase()];
  expect(operation.operationId).toBe(name);
  const inPath = [...call.path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
  expect((operation.parameters ?? []).filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name)).toEqual(inPath);
  expect(operation.security !== undefined).toBe(!['anyone', 'any-origin'].includes(call.access));
});

test('describes the body of a POST and the parameters of a GET', () => {
  expect(document.paths['/api/auth/domain-auth'].post.requestBody).toMatchObject({
    content: {
      'application/json': { schema: { properties: { email: { type: 'string' }, forward_url: { type: 'string' } }, required: ['email'] } },
    },
  });
  expect(document.paths['/api/verify-token'].get.parameters?.map(({ name }) => name)).toEqual(['token', 'domain']);
});

test('contains every referenced schema, and operation ids are unique', () => {
  const text = JSON.stringify(document);
  const targets = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path.split('/'));
  expect(targets.length).toBeGreaterThan(0);
  for (const path of targets) expect(path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document)).toBeDefined();
  const names = Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  expect(new Set(names).size).toBe(names.length);
});
