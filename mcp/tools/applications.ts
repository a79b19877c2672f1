import { z } from 'zod';
import { Client, ClientInput, ClientLogs, ClientUpdate } from '../../contract/applications.ts';
import type { Client as ApiClient } from '../../contract/client.ts';
import type { Output } from '../../contract/routes.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { refusal } from '../result.ts';
import { defineTool } from '../tool.ts';

const Application = z.object({
  clientId: Client.shape.clientId.describe('The client_id of OAuth 2.0; not a secret'),
  name: z.string(),
  redirectUris: z.array(z.string()),
  isActive: z.boolean().describe('false: it signs no one in'),
  createdAt: z.string().describe('ISO 8601'),
});

const ClientId = z.string().trim().min(1).max(100).describe('Client ID of one of your own applications, as list_applications shows it');
const Name = ClientInput.shape.name.describe('Shown only to the developer');
const RedirectUris = ClientInput.shape.redirectUris.describe(
  'Where sign-ins lead to, compared exactly: https, or http to localhost, 127.0.0.1 or [::1] with any port; up to ten',
);

type OwnApplication = Output<'listClients'>[number];

const toApplication = ({ clientId, name, redirectUris, isActive, createdAt }: OwnApplication): z.input<typeof Application> => ({
  clientId,
  name,
  redirectUris,
  isActive,
  createdAt,
});

const describeApplication = ({ clientId, name, redirectUris, isActive }: z.output<typeof Application>) =>
  `${oneLine(name, 80)}: client ID ${clientId}, ${isActive ? 'active' : 'switched off'}, redirects to ${redirectUris.join(', ')}.`;

/** Returns the caller's application with a client ID. @throws ApiError application_not_found */
async function requireApplication(client: ApiClient, clientId: string, signal: AbortSignal): Promise<OwnApplication> {
  const found = (await client.listClients({}, { signal })).find((each) => each.clientId === clientId);
  if (found) return found;
  const message = `"${oneLine(clientId, 80)}" is not one of your applications.`;
  throw refusal('application_not_found', message, 'list_applications shows their client IDs.');
}

export const listApplications = defineTool({
  name: 'list_applications',
  title: 'My applications',
  description:
    'Lists the applications of the signed-in account: OAuth 2.0 clients with PKCE, which sign people in to a program or app that is not a registered website. Call it to find the client ID that the other application tools take. A website needs none: scaffold_integration is for those.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ applications: z.array(Application) }),
  run: async (_, { client }, signal) => ({ applications: (await client.listClients({}, { signal })).map(toApplication) }),
  text: ({ applications }) =>
    applications.length === 0
      ? 'There is no application yet. Add one with create_application.'
      : applications.map(describeApplication).join('\n'),
});

export const getApplication = defineTool({
  name: 'get_application',
  title: 'One of my applications',
  description:
    'Shows one application of the signed-in account with its last hundred sign-ins, newest first: emails requested, sign-ins completed and ended. Call it to find out whether people get from the email to the redirect URI.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ clientId: ClientId }),
  output: Application.extend({
    log: z.array(ClientLogs.element.omit({ id: true })).describe('Newest first; email is the person who signs in'),
  }),
  async run({ clientId }, { client }, signal) {
    const application = await requireApplication(client, clientId, signal);
    const log = await client.clientLogs({ id: application.id }, { signal });
    return { ...toApplication(application), log: log.map(({ action, email, createdAt }) => ({ action, email, createdAt })) };
  },
  text: (application) =>
    [
      describeApplication(application),
      ...(application.log.length === 0 ? ['No one has signed in through it yet.'] : []),
      ...application.log.map(({ createdAt, action, email }) => `${createdAt} ${action} ${email ?? ''}`.trim()),
    ].join('\n'),
});

export const createApplication = defineTool({
  name: 'create_application',
  title: 'Add an application',
  description:
    'Adds an application (a public OAuth 2.0 client, which must use PKCE and has no secret) to the signed-in account and returns its client ID. Ask the person for the redirect URIs. Use it for programs and apps that send people to a redirect URI; a website with a domain uses register_domain instead. search_docs explains the two calls, authorize and token.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({ name: Name, redirectUris: RedirectUris }),
  output: Application,
  run: async (input, { client }, signal) => toApplication(await client.createClient(input, { signal })),
  text: (application) => `${describeApplication(application)} Its token identifies a person for an hour.`,
});

export const updateApplication = defineTool({
  name: 'update_application',
  title: 'Change an application',
  description:
    'Changes the name or the redirect URIs of an application of the signed-in account, or switches it on or off. Give only what changes; redirectUris replaces all of them. Switching it off ends its tokens and open sign-ins for good: ask the person first.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    clientId: ClientId,
    name: Name.optional(),
    redirectUris: RedirectUris.optional(),
    isActive: ClientUpdate.shape.isActive.describe('false switches it off').optional(),
  }),
  output: Application,
  async run({ clientId, name, redirectUris, isActive }, { client }, signal) {
    if (name === undefined && redirectUris === undefined && isActive === undefined)
      throw refusal('bad_request', 'There is nothing to change.', 'Give name, redirectUris or isActive.');
    const { id, ...current } = await requireApplication(client, clientId, signal);
    const wanted = {
      id,
      name: name ?? current.name,
      redirectUris: redirectUris ?? current.redirectUris,
      isActive: isActive ?? current.isActive,
    };
    return toApplication(await client.updateClient(wanted, { signal }));
  },
  text: describeApplication,
});

export const deleteApplication = defineTool({
  name: 'delete_application',
  title: 'Delete an application',
  description:
    'Deletes an application of the signed-in account permanently, with its log: its client ID stops working, and its tokens and open sign-ins end. Call it only when the person asked for exactly this application to be deleted, and repeat its name in confirmName.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    clientId: ClientId,
    confirmName: z.string().max(80).describe('The name of the application, as the person confirmed it'),
  }),
  output: z.object({ clientId: z.string(), deleted: z.literal(true) }),
  async run({ clientId, confirmName }, { client }, signal) {
    const { id, name } = await requireApplication(client, clientId, signal);
    if (confirmName.trim() !== name) {
      throw refusal(
        'confirmation_needed',
        'confirmName is not the name of this application, so nothing was deleted.',
        'Ask the person whether this application is to be deleted, and only then repeat its name in confirmName.',
      );
    }
    await client.deleteClient({ id }, { signal });
    return { clientId, deleted: true as const };
  },
  text: ({ clientId }) => `The application ${clientId} is deleted. No one can sign in through it.`,
});
