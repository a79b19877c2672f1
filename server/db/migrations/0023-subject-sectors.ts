import type { Step } from '../migration-steps.ts';

/** What the `sub` of an application's people is derived from, besides the address. */
export const steps: readonly Step[] = [
  {
    title: 'add the sector to the applications',
    // Fixed: a `sub` may have been derived from it.
    sql: 'alter table applications add column sector text, add column sector_fixed boolean not null default false',
  },
  {
    // What has been issued stays the same: until now it was derived from the host of the first redirect URI.
    title: 'store the sectors of the applications',
    table: 'applications',
    key: 'id',
    set: "sector = coalesce(substring(redirect_uris[1] from '^https://([^/?]+)'), client_id), sector_fixed = true",
    where: 'sector is null',
  },
];
