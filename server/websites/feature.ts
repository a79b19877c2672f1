import type { Outbox } from '../mail/outbox.ts';
import type { Job, Platform } from '../platform/platform.ts';
import { brandingEndpoints, type Logos, WebsiteBrandings } from './branding.ts';
import { CallbackChecks, callbackCheckEndpoints } from './callback-checks.ts';
import { Claims, claimEndpoints } from './claims.ts';
import { type InviteMember, Members, memberEndpoints } from './members.ts';
import { openStorage } from './storage.ts';
import { uploadEndpoints, uploadsRouter } from './upload-routes.ts';
import { createUploadUrls, Uploads } from './uploads.ts';
import { Visitors, visitorEndpoints } from './visitors.ts';
import { type InviteOwner, Websites, websiteEndpoints } from './websites.ts';

type Needs = {
  outbox: Outbox;
  /** Emails invitations. */
  invitations: { inviteOwner: InviteOwner; inviteMember: InviteMember };
  logos: Logos;
};

/** Websites with their members, domains, branding, icons and visitors. */
export function createWebsites(platform: Platform, { outbox, invitations, logos }: Needs) {
  const { config, database, log, secretKeys, publicUrl } = platform;
  const uploads = new Uploads({ ...platform, urls: createUploadUrls(secretKeys, publicUrl), storage: openStorage(config) });
  const websites = new Websites({ ...platform, uploads, inviteOwner: (owner, register) => invitations.inviteOwner(owner, register) });
  const members = new Members({ ...platform, inviteMember: (invitation, add) => invitations.inviteMember(invitation, add) });
  const brandings = new WebsiteBrandings({ database, logos });
  return {
    brandings,
    endpoints: [
      ...websiteEndpoints(websites),
      ...callbackCheckEndpoints(new CallbackChecks(platform)),
      ...claimEndpoints(new Claims({ ...platform, outbox })),
      ...memberEndpoints(members),
      ...brandingEndpoints(brandings),
      ...visitorEndpoints(new Visitors(platform)),
      ...uploadEndpoints(uploads),
    ],
    routers: [uploadsRouter({ ...platform, uploads })],
    jobs: [
      {
        name: 'release-unclaimed',
        minute: 7,
        run: async (query) => {
          const released = await websites.releaseUnclaimed(query);
          if (released > 0) log.warn(`${released} unclaimed websites released`);
        },
      },
      {
        name: 'clean-up-uploads',
        minute: 41,
        run: async (query) => {
          const removed = await uploads.cleanUp(query);
          if (removed > 0) log.trace(`${removed} uploads removed`);
        },
      },
    ] satisfies Job[],
  };
}
