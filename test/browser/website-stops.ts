import type { Page } from 'playwright';
import type { Stage } from '../support/harness.ts';
import { showPreview } from './scene.ts';
import type { Stop, StopAt } from './stop.ts';

const SIGN_IN = '019d0000-0000-7000-8000-000000000001';

/** Inserts the steps of two sign-ins of the last minutes at shop.example. */
export async function fillEvents(stage: Stage): Promise<void> {
  await stage.query(
    "update websites set created_at = now() - interval '2 days', domain_since = now() - interval '2 days' where domain = 'shop.example'",
  );
  await stage.query(`
    insert into audit_log (at, action, email, sign_in, website_id, method)
    select now() - n * interval '20 seconds', action, 'grace.hopper@mail.example', '${SIGN_IN}', id, method
    from websites, (values (9, 'sign_in_requested', null), (5, 'signed_in', 'l'::"char"), (4, 'token_verified', null)) as row (n, action, method)
    where domain = 'shop.example'`);
  await stage.query(`
    insert into audit_log (at, action, email, website_id, method)
    select now() - n * interval '31 hours', case when n % 3 = 0 then 'quick_login' else 'signed_in' end,
      (array['ada', 'jean.bartik', 'mary.kenneth.keller.with.a.long.name', 'radia'])[1 + n % 4] || '@mail.example', id, 'l'
    from websites, generate_series(1, 12) n where domain = 'shop.example'`);
  await stage.query(`
    insert into sign_in_steps (at, website_id, action, result, email, sign_in, count)
    select now() - n * interval '20 seconds', id, action, result, row.email, case when row.email like 'grace%' then '${SIGN_IN}'::uuid end, count
    from websites, (values (8, 'mail_accepted', null, 'grace.hopper@mail.example', 1), (7, 'wrong_browser', null, 'grace.hopper@mail.example', 1),
      (6, 'wrong_code', null, 'grace.hopper@mail.example', 1), (3, 'mail_refused', '550 5.1.1', 'nobody@mail.example', 1),
      (2, 'token_refused', 'used', 'grace.hopper@mail.example', 1), (1, 'token_refused', 'unknown', null, 1234)) as row (n, action, result, email, count)
    where domain = 'shop.example'`);
}

/** Inserts the sign-ins, API calls and probes of a month. */
export async function fillStats(stage: Stage): Promise<void> {
  await stage.query(`
    insert into daily_logins select d::date, (40 + 25 * sin(extract(doy from d)))::bigint
      from generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') d
      on conflict (day) do update set logins = excluded.logins`);
  await stage.query(`
    insert into daily_sites (website, day, sent, opened, again, completed)
      select w.id, d::date, 48 - n, 41 - n, 17, 55 - n
      from websites w, generate_series(0, 29) n, lateral (select (now() at time zone 'utc')::date - n as d) as day
      where w.domain = 'shop.example' on conflict do nothing`);
  await stage.query(`
    insert into daily_site_times (website, day, seconds, opened, methods)
      select id, (now() at time zone 'utc')::date, '{14,32,75,60}', '{12,17,9,3}', '{l,l,l,c}' from websites where domain = 'shop.example' on conflict do nothing`);
  await stage.query(`
    insert into api_key_days select k.id, d::date, 900 + 300 * extract(dow from d)::int, 12
      from api_keys k, generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') d on conflict do nothing`);
  await stage.query(`
    insert into probes (minute, database_ms, response_ms, failed)
      select m, 1.2, 3.4, case when m between now() - interval '9 days 20 minutes' and now() - interval '9 days' then '{mail}'::text[] else '{}' end
      from generate_series(date_trunc('minute', now()) - interval '21 days', date_trunc('minute', now()) - interval '1 minute', interval '1 minute') m
      on conflict do nothing`);
}

/** Adds a member and invitations to shop.example, and invites its owner to neighbour.example. */
export async function fillTeam(stage: Stage, owner: string): Promise<void> {
  await stage.query("update websites set name = 'The Shop', accent = '#0b6e58' where domain = 'shop.example'");
  await stage.query(
    `insert into website_members (website_id, email, role, invited_by, invited_at, joined_at)
     select w.id, m.email, m.role, $1, now() - m.age, m.joined
     from websites w, (values ('grace.hopper@lovelace.example', 'owner', interval '20 days', now() - interval '19 days'),
       ('a.colleague.with.a.long.address@department.lovelace.example', 'member', interval '2 days', now()),
       ('annie@lovelace.example', 'member', interval '1 hour', null), ('late@lovelace.example', 'owner', interval '9 days', null))
       as m (email, role, age, joined) where w.domain = 'shop.example'`,
    [owner],
  );
  await stage.query(
    `insert into website_members (website_id, email, role, invited_by)
     select id, $1, 'member', email from websites where domain = 'neighbour.example'`,
    [owner],
  );
}

/** The pages of a website. */
export function websiteStops(at: StopAt, live: StopAt): Stop[] {
  const of = (domain: string, tab = '') => `/dashboard/websites/${domain}${tab}`;
  const [full, empty] = ['shop.example', 'a-shop-with-a-rather-long-name.example'];
  const press = (name: string | RegExp) => async (page: Page) => {
    await page.getByRole('button', { name }).first().click();
    await page.getByRole('dialog').waitFor();
  };
  return [
    at('developer', of(full, '/stats'), 'website-statistics', full),
    at('developer', of(full, '/setup'), 'website-setup', full, (page) => page.getByText('Needs attention').first().waitFor()),
    at('developer', of(empty, '/setup'), 'website-setup-empty', empty, (page) => page.getByText('0 of 5 steps').waitFor()),
    live('developer', of(full, '/log'), 'website-log', full, async (page) => {
      const signIn = page.getByRole('listitem').locator('details').filter({ hasText: 'Fix:' }).first();
      await signIn.locator('summary').click();
      await signIn.getByText('Fix:').first().waitFor();
    }),
    at('developer', of(full, '/visitors'), 'website-visitors', full, (page) =>
      page
        .getByText(/sign-ins?:/)
        .first()
        .waitFor(),
    ),
    at('developer', of(full, '/visitors'), 'website-visitors-erase', full, press(/^Erase/)),
    at('developer', of(full, '/branding'), 'website-branding', full, (page) => showPreview(page, 'Language')),
    at('developer', of(full, '/branding'), 'website-branding-mail', full, async (page) => {
      await page.getByLabel('Preview of').selectOption('mail');
      await showPreview(page, 'Language');
      await page.frameLocator('iframe:not(.opacity-0)').locator('.button').waitFor();
    }),
    at('developer', of(full, '/team'), 'website-team', 'Team', (page) => page.getByText('Invitation expired').waitFor()),
    at('developer', of(full, '/settings'), 'website-settings', full, (page) => page.getByText('Danger zone').waitFor()),
    at('developer', of(empty, '/stats'), 'website-statistics-empty', empty),
    live('developer', of(empty, '/log'), 'website-log-empty', 'No sign-ins yet'),
    at('developer', of(empty, '/visitors'), 'website-visitors-empty', empty),
    at('developer', of(empty, '/branding'), 'website-branding-unproven', empty),
    at('developer', of(empty, '/team'), 'website-team-alone', 'Team'),
    at('developer', of(empty, '/settings'), 'website-settings-unproven', empty),
    at('developer', of('nobody.example'), 'website-unknown', 'No such website'),
  ];
}
