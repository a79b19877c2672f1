import type { Page } from 'playwright';
import type { Stage } from '../harness.ts';
import { dialog, type Stop, type StopAt } from './stop.ts';

/** A website with a branding. */
export const BRANDED = 'zalia.example';

/** A website without sign-ins. */
const EMPTY = 'a-shop-with-a-rather-long-name.example';

/** Gives a website a branding, and another one a team and visitors. */
export async function fillWebsites(stage: Stage): Promise<void> {
  await stage.query(
    `insert into websites (id, domain, email, claimed_at, proven_at, name, accent)
     values (gen_random_uuid(), $1, 'ada@lovelace.example', now(), now(), 'Žalia parduotuvė', '#ffd400')`,
    [BRANDED],
  );
  await stage.query(`
    insert into website_members (website_id, email, role, invited_by, invited_at, joined_at)
    select id, address, role, email, now() - ago, case when joined then now() - interval '1 day' end
    from websites, (values ('grace.hopper@mail.example', 'owner', interval '2 days', true),
      ('katherine@mail.example', 'member', interval '1 hour', false), ('dorothy@mail.example', 'member', interval '90 days', false)) as row (address, role, ago, joined)
    where domain = 'shop.example'`);
  await stage.query(`
    insert into website_visitors (website, email, first_at, last_at, by_email, remembered)
    select id, n || '-visitor@mail.example', now() - interval '40 days', now() - n * interval '3 hours', n, 60 - n
    from websites, generate_series(1, 60) n where domain = 'shop.example'`);
}

const sitePath = (tab = '', domain = 'shop.example') => `/dashboard/websites/${domain}${tab && `/${tab}`}`;

/** Returns the pages of a website, with data, without, and of a domain that is not proven. */
export function websiteStops(url: string, at: StopAt): Stop[] {
  // These pages always wait for a response, so their network is never idle.
  const live = (name: string, path: string, ready: (page: Page) => Promise<void>): Stop => ({
    name,
    who: 'developer',
    open: async (page) => {
      await page.goto(`${url}${path}`);
      await ready(page);
    },
  });
  return [
    at('developer', sitePath(), 'website', 'From request to sign-in'),
    at('developer', sitePath('', EMPTY), 'website-empty', 'No sign-ins in the last 30 days'),
    at('developer', sitePath('', 'no-such.example'), 'website-unknown', 'No such website'),
    live('website-log', sitePath('log'), async (page) => {
      await page.getByRole('list', { name: 'Earlier steps' }).getByRole('listitem').first().waitFor();
    }),
    live('website-log-empty', `${sitePath('log', EMPTY)}?status=problem&email=nobody`, async (page) => {
      await page.getByRole('button', { name: 'Clear filters' }).waitFor();
    }),
    at('developer', sitePath('visitors'), 'website-visitors', 'Visitors', (page) => page.getByText('1-visitor@').first().waitFor()),
    at('developer', sitePath('visitors'), 'website-visitors-erase', 'Visitors', dialog(/^Erase 1-visitor/)),
    at('developer', sitePath('visitors', EMPTY), 'website-visitors-empty', 'No visitors yet'),
    at('developer', sitePath('branding'), 'website-branding', 'shop.example', (page) =>
      page.getByLabel('Color', { exact: true }).waitFor(),
    ),
    at('developer', sitePath('branding', BRANDED), 'website-branding-faults', BRANDED, async (page) => {
      await page.getByLabel('Color', { exact: true }).fill('red');
      await page.getByRole('button', { name: 'Save Branding' }).click();
      await page.locator('[aria-invalid=true]').waitFor();
    }),
    at('developer', sitePath('team'), 'website-team', 'Team', (page) =>
      page.getByText('katherine@mail.example', { exact: true }).waitFor(),
    ),
    at('developer', sitePath('team'), 'website-team-remove', 'Team', dialog('Remove grace.hopper@mail.example')),
    at('developer', sitePath('settings'), 'website-settings', 'Test sign-in'),
    at('developer', sitePath('settings'), 'website-move', 'Test sign-in', dialog('Move website')),
    at('developer', sitePath('settings'), 'website-delete', 'Test sign-in', dialog('Delete website')),
    at('developer', sitePath('settings', 'bücher.example'), 'website-settings-unverified', 'Verification'),
    at('developer', sitePath('team', 'bücher.example'), 'website-team-unverified', 'Team'),
    at('developer', sitePath('test'), 'website-test-empty', 'No token came back yet'),
    at('developer', `${sitePath('test')}?token=unknown`, 'website-test', 'shop.example', (page) =>
      page.getByText('The service answers').waitFor(),
    ),
  ];
}
