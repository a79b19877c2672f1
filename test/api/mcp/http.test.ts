import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useProduction, useService } from '../../support/harness.ts';
import { type Developer, signInDeveloper } from '../../support/sign-ins.ts';
import { callTool, type Generation, generations, type McpClient } from './clients.ts';
import { exampleFor, type Scene } from './examples.ts';

const { stage, service } = await useService();
const { service: other } = await useProduction();
let owner: Developer;
let token: string;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
  // The tools for keys and devices need the sign-in of a person.
  token = owner.client.cookies.get('sid') as string;
});

describe.each(Object.keys(generations) as Generation[])('%s', (generation) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await generations[generation](service.url, token);
  });
  afterAll(() => client.close());

  test('lists every tool with title, description, annotations and schemas, and calls each', async () => {
    const scene: Scene = { stage, service, owner, calls: new Map() };
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['get_status', 'list_sites']));
    for (const { name, title, description, annotations, outputSchema } of tools) {
      for (const part of [title, description, annotations, outputSchema]) expect([name, part]).toEqual([name, expect.anything()]);
      // It has the protocol of one of the others, and the package of the other one.
      if (generation === 'client 2.x, older protocol' && !['get_status', 'list_sites'].includes(name)) continue;
      const input = await exampleFor(name, scene);
      const { failed, response, text } = await callTool(client, name, input);
      expect([name, failed]).toEqual([name, null]);
      expect(Object.keys(response)).not.toEqual([]);
      expect(text).not.toBe('');
      scene.calls.set(name, { input, response });
    }
    // Each request has its credentials, so there are no tools to sign in.
    expect(scene.calls.has('start_login')).toBe(false);
  });

  test('lists and reads resources, gets prompts and completes their arguments', async () => {
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.length).toBeGreaterThan(0);
    expect(resources.length).toBeGreaterThan(0);
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      expect([uri, contents[0]]).toEqual([uri, expect.objectContaining({ uri, text: expect.stringMatching(/\S/) })]);
    }
    const uri = 'emailauth://templates/express';
    expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri, text: expect.stringContaining('express') });
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThan(0);
    for (const { name, arguments: wanted = [] } of prompts) {
      const given = Object.fromEntries(wanted.map((each) => [each.name, each.name === 'framework' ? 'express' : 'shop.example']));
      const { messages } = await client.getPrompt({ name, arguments: given });
      expect([name, messages.length > 0]).toEqual([name, true]);
    }
    const ref = { type: 'ref/prompt', name: 'add_email_login' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'framework', value: 'exp' } });
    expect(completion.values).toEqual(['express']);
  });
});

test('two instances alternate in serving one client, since no state is kept between requests', async () => {
  const one = await generations['sdk 1.x'](service.url, token);
  const two = await generations['sdk 1.x'](other.url, token);
  const { response } = await callTool(one, 'get_status');
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const headers = { Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}` };
  // Each instance continues what the other one started.
  expect((await other.client().post('/mcp', initialized, headers)).status).toBe(202);
  const list = await other.client().post('/mcp', { jsonrpc: '2.0', id: 7, method: 'tools/list' }, headers);
  expect(list.json.result.tools.map(({ name }: { name: string }) => name)).toEqual((await one.listTools()).tools.map(({ name }) => name));
  // The other one is in production, which has no localhost.
  expect(await callTool(two, 'get_status')).toMatchObject({ response: { siteCount: Number(response.siteCount) - 1, email: owner.email } });
  await Promise.all([one.close(), two.close()]);
});
