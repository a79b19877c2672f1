import { z } from 'zod';
import { Email } from './signin.ts';
import { WEBSITE_ROLES, WebsiteParams } from './websites.ts';

const role = z.enum(WEBSITE_ROLES, { error: 'Choose owner or member' });

export const Invite = WebsiteParams.extend({ email: Email, role: role.default('member') });
export const MemberParams = WebsiteParams.extend({ email: Email });
export const MemberUpdate = MemberParams.extend({ role });

/** An address in the team of a website. */
export const Member = z.object({
  email: z.string(),
  role,
  status: z.enum(['linked', 'joined', 'invited', 'expired']).meta({
    description: 'linked: the address that the website is linked to; invited, expired: an invitation that was not accepted',
  }),
  invitedBy: z.string().nullable(),
  invitedAt: z.string().nullable(),
  joinedAt: z.string().nullable().meta({ description: 'When the invitation was accepted' }),
});
export const MemberList = z.array(Member);

/** An invitation to manage a website, as the invited account sees it. */
export const Invitation = z.object({
  id: z.uuid().meta({ description: "The website's id" }),
  domain: z.string(),
  displayDomain: z.string(),
  role,
  invitedBy: z.string(),
  expiresAt: z.string(),
});
export const InvitationList = z.array(Invitation);
