import { z } from 'zod';
import { ApiKey } from '../../contract/applications.ts';
import type { Output } from '../../contract/routes.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { refusal } from '../result.ts';
import { defineTool } from '../tool.ts';

// No tool creates or rotates a key: its secret would become part of the conversation. docs/decisions/0017-api-keys-and-assistants.md

const KeyId = ApiKey.shape.keyId.describe('The beginning of the key, such as ea_live_abc123…');

const Key = z.object({
  keyId: KeyId,
  name: z.string(),
  environment: ApiKey.shape.environment.describe('live: has full access; test: can only read'),
  scopes: ApiKey.shape.scopes,
  isActive: z.boolean(),
  createdAt: z.string().describe('ISO 8601'),
  lastUsed: z.string().nullable().describe('null: never'),
  expiresAt: z.string().nullable().describe('When a key that was replaced ends; null: it does not'),
});

const toKey = (key: Output<'listApiKeys'>[number]): z.infer<typeof Key> => Key.parse(key);

const BY_THE_PERSON = 'The person creates or rotates a key with `emailauth keys` or in the dashboard; no tool returns one.';

export const listApiKeys = defineTool({
  name: 'list_api_keys',
  title: 'My API keys',
  description:
    'Lists the API keys of the signed-in account by their beginning, name and last use, active ones and those that ended within 30 days; never the keys themselves. Call it to find a key to revoke or one that is not used. To create or rotate a key, the person runs `emailauth keys create` or `emailauth keys rotate`: no tool returns a key. It needs the sign-in of a person, not an API key.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ keys: z.array(Key) }),
  run: async (_, { client }, signal) => ({ keys: (await client.listApiKeys({}, { signal })).map(toKey) }),
  text: ({ keys }) =>
    [
      ...(keys.length === 0 ? ['There is no API key.'] : []),
      ...keys.map(
        ({ keyId, name, environment, scopes, isActive, lastUsed }) =>
          `${keyId} (${oneLine(name, 80)}): ${environment}, ${scopes?.join(' ') ?? 'all scopes'}, ${isActive ? 'active' : 'ended'}, last used ${lastUsed ?? 'never'}.`,
      ),
      BY_THE_PERSON,
    ].join('\n'),
});

export const revokeApiKey = defineTool({
  name: 'revoke_api_key',
  title: 'Revoke an API key',
  description:
    'Ends an API key of the signed-in account permanently: within a second it stops working wherever it is used. Call it only when the person asked for exactly this key to be revoked, for instance because it leaked, and repeat its name in confirmName. list_api_keys shows both.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    keyId: z.string().trim().min(1).max(60).describe('The beginning of the key, as list_api_keys shows it, with or without …'),
    confirmName: z.string().max(80).describe('The name of the key, as the person confirmed it'),
  }),
  output: z.object({ keyId: KeyId, revoked: z.literal(true) }),
  async run({ keyId, confirmName }, { client }, signal) {
    const wanted = keyId.replace(/…$/, '');
    const active = (await client.listApiKeys({}, { signal })).filter(({ isActive }) => isActive);
    const key = active.find((each) => each.keyId.replace(/…$/, '') === wanted);
    if (!key)
      throw refusal('api_key_not_found', `"${oneLine(keyId, 60)}" is not one of your active API keys.`, 'list_api_keys shows them.');
    if (confirmName.trim() !== key.name) {
      throw refusal(
        'confirmation_needed',
        'confirmName is not the name of this key, so nothing was revoked.',
        'Ask the person whether this key is to be revoked, and only then repeat its name in confirmName.',
      );
    }
    await client.revokeApiKey({ id: key.id }, { signal });
    return { keyId: key.keyId, revoked: true as const };
  },
  text: ({ keyId }) => `${keyId} is revoked. What used it needs another key. ${BY_THE_PERSON}`,
});
