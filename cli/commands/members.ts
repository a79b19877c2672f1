import { findByDomain } from '../../contract/urls.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import type { CommandSpec } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { listCommand } from '../lists.ts';
import { requireConfirmation } from '../prompts.ts';
import { shapeOf } from '../shapes.ts';
import { displayName, requireSite } from '../sites.ts';
import { dayOf } from '../terminal.ts';

const ROLES: readonly WebsiteRole[] = ['member', 'owner'];
const article = (role: WebsiteRole) => (role === 'owner' ? 'an owner' : 'a member');

const membersList = listCommand({
  usage: 'members list <domain>',
  choices: { domain: 'sites' },
  group: 'Websites',
  summary: 'the team of a website',
  examples: ['members list shop.example', "members list shop.example --json | jq -r '.[].email'"],
  json: shapeOf('listMembers'),
  load: async (client, [domain = '']) => client.listMembers({ id: (await requireSite(client, domain)).id }),
  columns: {
    ADDRESS: ({ email }) => email,
    ROLE: ({ role }) => role,
    STATUS: ({ status }) => status,
    SINCE: ({ joinedAt, invitedAt }) => dayOf(joinedAt ?? invitedAt ?? ''),
  },
});

const membersInvite: CommandSpec = {
  usage: 'members invite <domain> <email>',
  needs: 'sign-in',
  choices: { domain: 'sites', '--role': ROLES },
  group: 'Websites',
  summary: 'invite an address to the team of a website, or send its invitation again',
  about: 'The domain has to be verified. The invitation is sent by email and is valid for 7 days; the address accepts it in the portal.',
  flags: { '--role <role>': 'member, or owner: may also move, delete and share the website' },
  examples: ['members invite shop.example ben@example.com', 'members invite shop.example ben@example.com --role owner'],
  json: shapeOf('inviteMember'),
  exits: { 6: 'the domain is not verified, or the address is in the team already' },
  async run({ terminal, signedIn }, [domain = '', email = ''], { role }) {
    const { client } = await signedIn();
    const site = await requireSite(client, domain);
    const member = await client.inviteMember({ id: site.id, email, role: role as WebsiteRole | undefined });
    terminal.result(member, `${member.email} is invited to ${displayName(site)} as ${article(member.role)}.`);
    return EXIT.ok;
  },
};

const membersRole: CommandSpec = {
  usage: 'members role <domain> <email> <role>',
  needs: 'sign-in',
  choices: { domain: 'sites', role: ROLES },
  group: 'Websites',
  summary: 'change the role of a member',
  examples: ['members role shop.example ben@example.com owner'],
  json: shapeOf('changeMember'),
  async run({ terminal, signedIn }, [domain = '', email = '', role]) {
    const { client } = await signedIn();
    const site = await requireSite(client, domain);
    const member = await client.changeMember({ id: site.id, email, role: role as WebsiteRole });
    terminal.result(member, `${member.email} is ${article(member.role)} of ${displayName(site)}.`);
    return EXIT.ok;
  },
};

const membersRemove: CommandSpec = {
  usage: 'members remove <domain> <email>',
  needs: 'sign-in',
  choices: { domain: 'sites' },
  group: 'Websites',
  summary: 'remove a member, withdraw an invitation, or leave with your own address',
  about: 'You confirm it, or pass --yes.',
  examples: ['members remove shop.example ben@example.com', 'members remove shop.example ben@example.com --yes'],
  json: '{domain,email,removed}',
  async run({ terminal, signedIn }, [domain = '', email = '']) {
    const { client } = await signedIn();
    const site = await requireSite(client, domain);
    await requireConfirmation(terminal, `${email} can no longer see or change ${displayName(site)}. Go on?`);
    await client.removeMember({ id: site.id, email });
    terminal.result({ domain: site.domain, email, removed: true }, `${email} is removed from ${displayName(site)}.`);
    return EXIT.ok;
  },
};

const invitationsList = listCommand({
  usage: 'invitations list',
  group: 'Websites',
  summary: 'invitations to manage websites of others',
  examples: ['invitations list'],
  json: shapeOf('listInvitations'),
  load: (client) => client.listInvitations({}),
  columns: {
    DOMAIN: displayName,
    ROLE: ({ role }) => role,
    'INVITED BY': ({ invitedBy }) => invitedBy,
    UNTIL: ({ expiresAt }) => dayOf(expiresAt),
  },
  empty: 'You have no invitations.',
});

const invitationsAccept = decision('accept', 'accepted');
const invitationsDecline = decision('decline', 'declined');

/** Returns the command that accepts or declines an invitation. */
function decision(verb: 'accept' | 'decline', done: 'accepted' | 'declined'): CommandSpec {
  return {
    usage: `invitations ${verb} <domain>`,
    needs: 'sign-in',
    group: 'Websites',
    summary: verb === 'accept' ? 'accept an invitation: the website is then one of yours' : 'decline an invitation',
    examples: [`invitations ${verb} shop.example`],
    json: `{domain,${done}}`,
    async run({ terminal, signedIn }, [domain = '']) {
      const { client } = await signedIn();
      const invitation = findByDomain(await client.listInvitations({}), domain);
      if (!invitation) {
        const message = `You have no invitation to ${domain}.`;
        throw new CommandError(EXIT.notFound, 'invitation_not_found', message, 'See yours with `emailauth invitations list`.');
      }
      const { id } = invitation;
      await (verb === 'accept' ? client.acceptInvitation({ id }) : client.declineInvitation({ id }));
      terminal.result({ domain: invitation.domain, [done]: true }, `The invitation to ${displayName(invitation)} is ${done}.`);
      return EXIT.ok;
    },
  };
}

export const membersCommands: readonly CommandSpec[] = [
  membersList,
  membersInvite,
  membersRole,
  membersRemove,
  invitationsList,
  invitationsAccept,
  invitationsDecline,
];
