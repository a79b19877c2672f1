import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../../support/harness.ts';
import { type Developer, freshDomain, signInDeveloper } from '../../support/sign-ins.ts';
import { generations, type McpClient } from './clients.ts';

const { stage, service } = await useService();
let owner: Developer;
let mine: McpClient;
let nobodys: McpClient;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
  const open = generations['client 2.x'];
  [mine, nobodys] = await Promise.all([open(service.url, owner.client.cookies.get('sid')), open(service.url)]);
});
afterAll(async () => {
  await Promise.all([mine.close(), nobodys.close()]);
});

const textOf = async (client: McpClient, uri: string) => {
  const [content] = (await client.readResource({ uri })).contents;
  return 'text' in content ? content.text : '';
};

test('every listed resource has a title, a description and a type, and can be read', async () => {
  const { resources } = await nobodys.listResources();
  for (const { uri, title, description, mimeType } of resources) {
    expect([uri, title, description, mimeType]).toEqual([
      uri,
      expect.any(String),
      expect.any(String),
      expect.stringMatching(/^(?:text\/markdown|application\/json)$/),
    ]);
    expect(await textOf(nobodys, uri)).toContain(mimeType === 'application/json' ? '{' : '# ');
  }
  expect(resources.some(({ uri }) => uri.startsWith('emailauth://sites/'))).toBe(false);
});

test('returns the OpenAPI description that the service publishes', async () => {
  expect(JSON.parse(await textOf(nobodys, 'emailauth://openapi.json'))).toEqual((await service.client().get('/openapi.json')).json);
});

test('lists, reads and completes websites only for their owner', async () => {
  const { domain } = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
  const uri = `emailauth://sites/${domain}`;
  expect((await mine.listResources()).resources.map((each) => each.uri)).toContain(uri);
  expect(JSON.parse(await textOf(mine, uri))).toMatchObject({ domain, proof: { record: `_emailauth.${domain}` } });
  const complete = async (client: McpClient, ref: Parameters<McpClient['complete']>[0]['ref'], value: string) =>
    (await client.complete({ ref, argument: { name: 'domain', value } })).completion.values;
  const resource = { type: 'ref/resource', uri: 'emailauth://sites/{domain}' } as const;
  const prompt = { type: 'ref/prompt', name: 'debug_callback' } as const;
  expect(await complete(mine, resource, domain.slice(0, 8))).toContain(domain);
  expect(await complete(mine, prompt, '')).toEqual(expect.arrayContaining([domain, 'localhost']));
  expect(await complete(nobodys, resource, '')).toEqual([]);
  expect(await complete(nobodys, prompt, '')).toEqual(['localhost']);
  await expect(nobodys.readResource({ uri })).rejects.toThrow('You are not signed in.');
});

test.each([
  'emailauth://docs/nothing',
  'emailauth://docs/..%2F..%2F..%2Fpackage',
  'emailauth://docs/../../../etc/passwd',
  'emailauth://docs/%00',
  'emailauth://docs/%',
  'emailauth://docs/__proto__',
  'emailauth://templates/constructor',
  'emailauth://templates/..%2Fcatalog',
  'emailauth://templates/',
  'emailauth://sites/nothing.example',
  'emailauth://nothing',
  'file:///etc/passwd',
  'no address',
])('%s is not found', async (uri) => {
  await expect(mine.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
});

test('add_email_login is the prompt of the guide for every framework', async () => {
  const { completion } = await nobodys.complete({
    ref: { type: 'ref/prompt', name: 'add_email_login' },
    argument: { name: 'framework', value: 'F' },
  });
  expect(completion.values).toEqual(expect.arrayContaining(['flask', 'fastapi', 'fastify']));
  for (const framework of completion.values) {
    const { messages } = await nobodys.getPrompt({ name: 'add_email_login', arguments: { framework, domain: 'shop.example' } });
    expect(messages[0]).toMatchObject({ role: 'user', content: { text: expect.stringContaining('for the domain shop.example') } });
  }
});

test('prompts reduce arguments to one line and reject invalid ones', async () => {
  const { messages } = await nobodys.getPrompt({
    name: 'debug_callback',
    arguments: { domain: 'shop.example', symptom: 'It\nfails\u0007' },
  });
  expect(messages[0].content).toMatchObject({ text: expect.stringContaining('What happens: It fails\n') });
  const wrong = [{ framework: 'nothing', domain: 'shop.example' }, { framework: 'express', domain: "x'" }, { framework: 'express' }];
  for (const given of wrong) {
    await expect(nobodys.getPrompt({ name: 'add_email_login', arguments: given as Record<string, string> })).rejects.toMatchObject({
      code: -32602,
    });
  }
});
