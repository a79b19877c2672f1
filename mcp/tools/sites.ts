import { z } from 'zod';
import { refusal } from '../../contract/client.ts';
import { hasCode } from '../../contract/errors.ts';
import { findByDomain, LOCALHOST, MAX_HOST_LENGTH, normalDomain } from '../../contract/urls.ts';
import { WebsiteUpdate } from '../../contract/websites.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { nextSteps } from '../../templates/render.ts';
import { findCaller, findInbox, isServed, type OwnSite, requireOwnSite } from '../caller.ts';
import { numberedList } from '../integration.ts';
import { Address, CHANGES, Domain, defineTool, type McpContext, NextSteps, OwnDomain, READS } from '../tool.ts';

type Registered = { domain: string; email?: string; status: 'active' | 'already registered'; authUrl: string };

export const registerDomain = defineTool({
  name: 'register_domain',
  title: 'Register a domain',
  description:
    'Registers the domain of a website, so that its visitors can sign in by email. It needs no sign-in and takes effect immediately; the linked address gets an email with a link that keeps the domain. Ask the person for both, never invent an address. The domain localhost needs no registration where the service runs in local mode. Then call scaffold_integration.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    domain: Domain,
    email: Address.describe('Address of the person who will manage the domain'),
  }),
  output: z.object({
    domain: z.string().describe('As A-label'),
    email: z.string().optional().describe('The linked address, which manages the domain'),
    status: z.enum(['active', 'already registered']),
    authUrl: z.string().describe('The sign-in page to send visitors to'),
    nextSteps: NextSteps,
  }),
  async run(input, context, signal) {
    const [registered, ...firstSteps] = await register(input, context, signal);
    return { ...registered, nextSteps: [...firstSteps, ...stepsFor(registered, context.onDeveloperMachine)] };
  },
  text: ({ domain, status, nextSteps: steps }) =>
    [`${domain} is ${status === 'active' ? 'registered' : status}. Visitors can sign in now.`, numberedList(steps)].join('\n'),
});

/** Registers the domain. @returns what is registered, and the steps that follow from how it was registered */
async function register(
  { domain, email }: { domain: string; email: string },
  context: Pick<McpContext, 'client' | 'host'>,
  signal: AbortSignal,
): Promise<[Registered, ...string[]]> {
  const { client, host } = context;
  const authUrl = `${host}/auth`;
  if (domain.toLowerCase() === LOCALHOST) {
    if (await isServed(client, LOCALHOST, signal)) return [{ domain: LOCALHOST, status: 'already registered', authUrl }];
    throw refusal(
      'bad_domain',
      `${host} does not serve localhost.`,
      'Register the real domain, or run your own service during development: `emailauth start`.',
    );
  }
  const caller = await findCaller(client, signal);
  const own = caller && findByDomain(caller.sites, domain);
  if (own) return [{ domain: own.domain, email: caller.email, status: 'already registered', authUrl }];
  try {
    // The address of the signed-in account is confirmed already, so no email is needed.
    if (caller?.email === email) {
      const site = await client.createWebsite({ domain }, { signal });
      return [{ domain: site.domain, email, status: 'active', authUrl }];
    }
    const registered = await client.registerWebsite({ domain, email }, { signal });
    const inbox = await findInbox(context, signal);
    const where = inbox ? `the email to ${registered.email} is at ${inbox}` : `an email is on its way to ${registered.email}`;
    return [{ ...registered, status: 'active' }, `Tell the person: ${where}; its link, opened within 7 days, keeps the domain.`];
  } catch (error) {
    if (!hasCode(error, 'domain_taken')) throw error;
    // The owner is not disclosed, not even to the owner's own address before a sign-in.
    return [
      { domain: normalDomain(domain) ?? domain, status: 'already registered', authUrl },
      `If another account registered it and it belongs to the person, they sign in at ${host}/developer and verify it under My Websites.`,
    ];
  }
}

function stepsFor({ domain, authUrl }: Registered, onDeveloperMachine: boolean): string[] {
  const scaffold = `Call scaffold_integration with the framework of the app and domain ${domain}, and write the files that it returns.`;
  if (domain === LOCALHOST) return [scaffold];
  return [
    scaffold,
    onDeveloperMachine
      ? 'Once the app is online, call check_integration.'
      : 'Once the app is online and the domain is verified (prove_domain), call check_integration.',
    ...nextSteps({ domain, authUrl }).map((step, i) => `By hand instead, ${i + 1} of 3: ${step}`),
  ];
}

/** A website as the tools show it. */
const Site = z.object({
  domain: z.string().describe('As A-label'),
  verified: z.boolean().describe('Whether the owner has verified the domain'),
  iconUrl: z.string().nullable().describe('Path of its icon on the service; null: none'),
  createdAt: z.string().describe('ISO 8601'),
});

/** What verifies a domain. */
const Proof = z
  .object({ record: z.string(), value: z.string(), fileUrl: z.string(), fileBody: z.string() })
  .describe('What verifies the domain: the TXT record with its value, or the file with its body');

const SiteWithProof = Site.extend({ proof: Proof });

const toSite = ({ domain, verified, iconUrl, createdAt }: OwnSite): z.input<typeof Site> => ({ domain, verified, iconUrl, createdAt });

/** Returns what get_site and the resource of a website show. */
export function toSiteWithProof(site: OwnSite): z.input<typeof SiteWithProof> {
  const { record, value, fileUrl, fileBody } = site.proof;
  return { ...toSite(site), proof: { record, value, fileUrl, fileBody } };
}

const describeSite = ({ domain, verified, iconUrl, createdAt }: z.output<typeof Site>) =>
  `${domain}: ${verified ? 'verified' : 'not verified yet'}, ${iconUrl ? 'with' : 'without'} an icon, since ${createdAt.slice(0, 10)}.`;

export const listSites = defineTool({
  name: 'list_sites',
  title: 'My websites',
  description:
    'Lists the websites of the signed-in account, each with its domain and whether the domain is verified. Call it to find the domain that get_site, update_site, delete_site, prove_domain and check_integration take. Websites of other accounts are never shown.',
  annotations: READS,
  input: z.object({}),
  output: z.object({ sites: z.array(Site) }),
  run: async (_, { client }, signal) => ({ sites: (await client.listWebsites({}, { signal })).map(toSite) }),
  text: ({ sites }) =>
    sites.length === 0 ? 'There is no website yet. Register one with register_domain.' : sites.map(describeSite).join('\n'),
});

export const getSite = defineTool({
  name: 'get_site',
  title: 'One of my websites',
  description:
    'Shows one website of the signed-in account, with the DNS record and the file that verify its domain. Call it to see its state, or before update_site and delete_site; prove_domain checks the proof.',
  annotations: READS,
  input: z.strictObject({ domain: OwnDomain }),
  output: SiteWithProof,
  run: async ({ domain }, { client }, signal) => toSiteWithProof(await requireOwnSite(client, domain, signal)),
  text(site) {
    if (site.verified) return describeSite(site);
    const { record, value, fileUrl, fileBody } = site.proof;
    return `${describeSite(site)}
To verify the domain, publish one of these:
- the TXT record ${record} with the value ${value}
- the file ${fileUrl} with the body ${fileBody}
Then call prove_domain.`;
  },
});

export const updateSite = defineTool({
  name: 'update_site',
  title: 'Change a website',
  description:
    'Moves a website of the signed-in account to another domain, or removes its icon. A move ends the sign-ins at the old domain, and the new one has to be verified again: call it only when the person asked for exactly this move, and repeat the present domain in confirmDomain. Give newDomain, iconUrl or both. A new icon is uploaded in the dashboard or with `emailauth sites update --icon`.',
  annotations: CHANGES,
  input: z.strictObject({
    domain: OwnDomain,
    newDomain: Domain.describe('The domain that replaces it; needs confirmDomain').optional(),
    confirmDomain: z.string().max(MAX_HOST_LENGTH).describe('The present domain again, as the person confirmed the move').optional(),
    iconUrl: WebsiteUpdate.shape.iconUrl.describe('null removes the icon; a path is that of an icon uploaded before'),
  }),
  output: Site.extend({ movedFrom: z.string().optional().describe('The previous domain, where sign-ins have ended') }),
  async run({ domain, newDomain, confirmDomain, iconUrl }, { client }, signal) {
    if (newDomain === undefined && iconUrl === undefined)
      throw refusal('bad_request', 'There is nothing to change.', 'Give newDomain or iconUrl.');
    const site = await requireOwnSite(client, domain, signal);
    const wanted = newDomain ?? site.domain;
    if (wanted !== site.domain && normalDomain(confirmDomain ?? '') !== site.domain) {
      throw refusal(
        'confirmation_needed',
        `confirmDomain is not ${site.domain}, so nothing was changed.`,
        'Ask the person whether this website is to move, and only then repeat its present domain in confirmDomain.',
      );
    }
    const changed = await client.updateWebsite({ id: site.id, domain: wanted, iconUrl }, { signal }).catch((error) => {
      if (!hasCode(error, 'domain_taken')) throw error;
      throw refusal('domain_taken', `${oneLine(wanted, 80)} is registered already.`, 'Choose another domain; nothing was changed.');
    });
    return { ...toSite(changed), movedFrom: changed.domain === site.domain ? undefined : site.domain };
  },
  text: (site) =>
    `${describeSite(site)}${site.movedFrom ? ` Sign-ins at ${site.movedFrom} have ended. Change the app’s settings: scaffold_integration returns them for ${site.domain}.` : ''}`,
});

export const deleteSite = defineTool({
  name: 'delete_site',
  title: 'Delete a website',
  description:
    'Deletes a website of the signed-in account permanently: visitors can no longer sign in there, and anyone may register the domain. Call it only when the person asked for exactly this domain to be deleted, and repeat the domain in confirmDomain.',
  annotations: CHANGES,
  input: z.strictObject({
    domain: OwnDomain,
    confirmDomain: z.string().max(MAX_HOST_LENGTH).describe('The same domain again, as the person confirmed it'),
  }),
  output: z.object({ domain: z.string(), deleted: z.literal(true) }),
  async run({ domain, confirmDomain }, { client }, signal) {
    const site = await requireOwnSite(client, domain, signal);
    if (normalDomain(confirmDomain) !== site.domain) {
      throw refusal(
        'confirmation_needed',
        `confirmDomain is not ${site.domain}, so nothing was deleted.`,
        'Ask the person whether this website is to be deleted, and only then repeat its domain in confirmDomain.',
      );
    }
    await client.deleteWebsite({ id: site.id }, { signal });
    return { domain: site.domain, deleted: true as const };
  },
  text: ({ domain }) => `${domain} is deleted. Visitors can no longer sign in there. Remove the sign-in from its app.`,
});

export const proveDomain = defineTool({
  name: 'prove_domain',
  title: 'Verify a domain',
  description:
    'Checks whether the DNS record or the file that verifies a domain is published, and returns what to publish where it is not. A proof lifts the limits of a new website, allows its branding and check_integration over HTTP, and transfers a domain that another account registered without proving it. Call it without preparation for the record to publish, then again once the person or you have published it; DNS usually takes minutes.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({ domain: Domain.describe('Root domain to prove: of one of your own websites, or one to take over') }),
  output: z.object({
    domain: z.string().describe('As A-label'),
    verified: z.boolean(),
    reason: z.string().optional().describe('Why it is not verified'),
    proof: Proof,
  }),
  async run({ domain }, { client }, signal) {
    const own = findByDomain(await client.listWebsites({}, { signal }), domain);
    if (own?.verified) return { domain: own.domain, verified: true, proof: toProof(own.proof) };
    const claim = own ?? (await client.claimWebsite({ domain }, { signal }));
    try {
      const site = await client.proveWebsite({ domain: claim.domain }, { signal });
      return { domain: site.domain, verified: true, proof: toProof(site.proof) };
    } catch (error) {
      if (!hasCode(error, 'not_proven')) throw error;
      // A failed check may replace the value, so that an old record proves nothing.
      const { proof } = await client.claimWebsite({ domain: claim.domain }, { signal });
      return { domain: claim.domain, verified: false, reason: error.message, proof: toProof(proof) };
    }
  },
  text: ({ domain, verified, reason, proof }) =>
    verified
      ? `${domain} is verified.`
      : `${domain} is not verified: ${reason}
Publish one of these, then call prove_domain again:
- the TXT record ${proof.record} with the value ${proof.value}
- the file ${proof.fileUrl} with the body ${proof.fileBody}`,
});

const toProof = ({ record, value, fileUrl, fileBody }: z.input<typeof Proof>): z.input<typeof Proof> => ({
  record,
  value,
  fileUrl,
  fileBody,
});
