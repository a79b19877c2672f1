import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';

const read = async (path: string) => JSON.parse(await readFile(join(import.meta.dirname, path), 'utf8'));

const Input = { description: z.string(), format: z.enum(['string', 'number', 'boolean', 'filepath']).optional() };
const Value = { ...Input, default: z.string().optional(), placeholder: z.string().optional(), isSecret: z.boolean().optional() };
const Named = z.strictObject({ name: z.string(), ...Value, isRequired: z.boolean().optional() });

/** The part of the registry's schema of 2025-12-11 that we use. */
const ServerJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string(),
      variables: z.record(z.string(), z.strictObject({ ...Value, isRequired: z.boolean().optional() })),
    }),
  ),
});

const Package = z.strictObject({
  registryType: z.literal('npm'),
  registryBaseUrl: z.literal('https://registry.npmjs.org'),
  identifier: z.string(),
  version: z.string(),
  runtimeHint: z.literal('npx'),
  transport: z.strictObject({ type: z.literal('stdio') }),
  packageArguments: z.array(z.strictObject({ type: z.literal('positional'), value: z.string() })),
  environmentVariables: z.array(Named),
});

test('server.json matches the schema of the registry, and names no package before it is published', async () => {
  const { mcpName, version } = await read('../package.json');
  const server = ServerJson.parse(await read('server.json'));
  expect(server).toMatchObject({ name: mcpName, version });
  for (const { url, variables } of server.remotes) expect(url.match(/(?<={)\w+(?=})/g)).toEqual(Object.keys(variables));
});

test('the server.json of a release names the npm package of this version', async () => {
  const { name, version, bin } = await read('../package.json');
  const { releasedServerJson } = await import(pathToFileURL(join(import.meta.dirname, '../cli/release.mjs')).href);
  const { packages, ...server } = releasedServerJson();
  expect(ServerJson.parse(server)).toEqual(await read('server.json'));
  expect(z.tuple([Package]).parse(packages)).toMatchObject([{ identifier: name, version, packageArguments: [{ value: 'mcp' }] }]);
  expect(Object.keys(bin)).toContain(name);
});
