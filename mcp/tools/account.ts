import { z } from 'zod';
import { AuditEntry, Branding, Organization, Profile } from '../../contract/account.ts';
import type { Client } from '../../contract/client.ts';
import type { Output } from '../../contract/routes.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { refusal } from '../result.ts';
import { defineTool } from '../tool.ts';

const ACTIVITY_ENTRIES = 20;

const Account = z.object({
  email: z.string(),
  name: z.string().describe('Empty: none'),
  organization: z.string().describe('Empty: none'),
  plan: z.string(),
  branding: z
    .object({
      fromName: z.string().describe('Name of the sender; empty: that of the service'),
      logoUrl: z.string().describe('Empty: none'),
      previewUrl: z.string().describe('The email as a page, for a browser in which the person is signed in'),
    })
    .describe('Of the sign-in emails of websites whose domain is proved'),
  createdAt: z.string().describe('ISO 8601'),
});

function toAccount({ organisation, branding, ...settings }: Output<'settings'>, host: string): z.input<typeof Account> {
  const previewUrl = `${host}/dashboard/settings/preview?${new URLSearchParams({ ...branding, language: 'en' })}`;
  return { ...settings, organization: organisation, branding: { ...branding, previewUrl } };
}

function describeAccount({ email, name, organization, branding }: z.output<typeof Account>): string {
  const shown = (text: string, none: string) => oneLine(text, 500) || none;
  return [
    `${email}: name ${shown(name, 'none')}, organization ${shown(organization, 'none')}.`,
    `Sign-in emails of proved websites: from ${shown(branding.fromName, 'the name of the service')}, logo ${shown(branding.logoUrl, 'none')}. Preview: ${branding.previewUrl}`,
  ].join('\n');
}

export const getAccount = defineTool({
  name: 'get_account',
  title: 'My account',
  description:
    'Shows the settings of the signed-in account: name, organization and the branding of its sign-in emails with a preview, and its latest actions: changes of websites, applications and keys, and own sign-ins. Call it before update_account, or when the person asks what was changed and when.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: Account.extend({ activity: z.array(AuditEntry.omit({ id: true, displayDomain: true })).describe('Newest first') }),
  async run(_, { client, host }, signal) {
    const [settings, entries] = await Promise.all([
      client.settings({}, { signal }),
      client.auditLogs({ limit: ACTIVITY_ENTRIES }, { signal }),
    ]);
    const activity = entries.map(({ action, createdAt, domain }) => ({ action, createdAt, domain }));
    return { ...toAccount(settings, host), activity };
  },
  text: (account) =>
    [
      describeAccount(account),
      ...account.activity.map(({ createdAt, action, domain }) => `${createdAt} ${action} ${domain ?? ''}`.trim()),
    ].join('\n'),
});

export const updateAccount = defineTool({
  name: 'update_account',
  title: 'Change my account',
  description:
    'Changes the name or organization of the signed-in account, or the sender and logo of the sign-in emails of its websites with a proved domain. Give only what changes; an empty text removes the value. Ask the person first: their visitors see the branding in the next email. It needs the sign-in of a person, not an API key.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    name: Profile.shape.name.describe('Name of the person').optional(),
    organization: Organization.shape.organisation.describe('Name of the organization').optional(),
    fromName: Branding.shape.fromName.describe('Name of the sender; its address stays that of the service').optional(),
    logoUrl: Branding.shape.logoUrl.describe('https address of a PNG or JPG, shown 40 pixels high').optional(),
  }),
  output: Account,
  async run(changes, { client, host }, signal) {
    if (Object.values(changes).every((value) => value === undefined))
      throw refusal('bad_request', 'There is nothing to change.', 'Give name, organization, fromName or logoUrl.');
    return toAccount(await saveChanges(client, changes, signal), host);
  },
  text: describeAccount,
});

type Changes = { name?: string; organization?: string; fromName?: string; logoUrl?: string };

/** Makes one call for each kind of setting. @returns the settings after the last one */
async function saveChanges(
  client: Client,
  { name, organization, fromName, logoUrl }: Changes,
  signal: AbortSignal,
): Promise<Output<'settings'>> {
  let settings = await client.settings({}, { signal });
  if (fromName !== undefined || logoUrl !== undefined) {
    const { branding } = settings;
    settings = await client.saveBranding({ fromName: fromName ?? branding.fromName, logoUrl: logoUrl ?? branding.logoUrl }, { signal });
  }
  if (name !== undefined) settings = await client.saveProfile({ name }, { signal });
  if (organization !== undefined) settings = await client.saveOrganisation({ organisation: organization }, { signal });
  return settings;
}
