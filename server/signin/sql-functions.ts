import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { UPLOADS_PATH } from '../../contract/urls.ts';
import { addActivity, websiteOfClient } from '../platform/db/activity-rows.ts';
import { type SqlFunction, sqlFunction } from '../platform/db/functions.ts';
import { addHits, counters, windowOf } from '../platform/db/rate-limits.ts';
import { lifeOf } from './attempt-conditions.ts';
import { isGuessed } from './guesses.ts';

const {
  mails_from_network: NETWORK,
  mails_from_block: BLOCK,
  mails_to_mailbox_from_network: PAIR,
  mails_to_mailbox: MAILBOX,
} = RATE_LIMITS;

/** Different mailboxes that a website may send to in a day before its owner has signed in once. */
const PROBATION_RECIPIENTS = 20;

/** The requests that no step has refused yet, in the order of a key, so that two batches never wait for each other. @param keys an array, as SQL */
const inOrderOf = (keys: string) =>
  `select k.n from unnest(${keys}) with ordinality as k (key, n) where statuses[k.n] is null order by k.key, k.n`;

/** Counts request i and reads its counter into `hits` and `window_end`. @param windowEnd the end of a window that begins, as SQL */
const count = (key: string, windowEnd: string) => `${addHits({ key, windowEnd })} into hits, window_end;`;

/**
 * Counts the limits of requests for emails, then inserts attempts, pending emails and audit rows. Each limit counts what the one before it let
 * pass. A browser whose device is known for the address has counters of its own, which no one else can use up. The other limits:
 *
 * - The networks of a block, an IPv6 /48 or IPv4 /24, get `per_block` emails in an hour together. A network that has requested none in its
 *   hour gets its first one from a reserve of as many more, so that the others of the block cannot lock it out.
 * - A website that is not claimed yet sends to a number of different mailboxes a day. To count them exactly, its requests run `alone`, one
 *   after the other. Without it their status is `on_probation`, and nothing is done.
 * - Of the `per_mailbox` emails that a mailbox gets in an hour, `reserved` are a reserve of which a network (IPv6: a /48) gets `per_share`. So
 *   it takes requests from that many networks to refuse a browser that is not known. The window of the reserve ends with the mailbox's.
 *   Notices about domains count for the mailbox too, and get nothing of the reserve (mail/store.ts).
 *
 * Returns a row for each request in the order of the array. `retry_after`: seconds until the limit in `status` ends. `added`: the branding of
 * the website or else of its account, once the domain is proven, and whether `guesses` wrong codes were entered for the mailbox. The outbox
 * has it too, so that every retry sends the same email.
 */
export const REQUEST_EMAILS = sqlFunction(
  'request_emails',
  `(requests jsonb, alone boolean, lease_seconds integer, per_network integer, per_block integer, per_pair integer, per_mailbox integer,
  reserved integer, per_share integer, guesses integer) returns table (status text, retry_after integer, added jsonb)`,
  `
declare
  -- Element n of each array is of request n. A request without a status has passed every step so far.
  statuses text[];
  window_ends timestamptz[] = '{}';
  additions jsonb[];
  websites_of uuid[];
  unregistered boolean[];
  unclaimed boolean[];
  known boolean[];
  mailboxes text[];
  blocks text[];
  networks text[];
  sharers text[];
  first_of_network boolean[] = '{}';
  hits integer;
  window_end timestamptz;
  ends timestamptz;
  i integer;
begin
  select array_agg(case when r.is_unclaimed and not alone then 'on_probation' end), array_agg(r.website), array_agg(r.is_unregistered),
    array_agg(r.is_unclaimed), array_agg(r.is_known), array_agg(r.mailbox), array_agg(r.block), array_agg(r.network), array_agg(r.sharer),
    array_agg(coalesce(r.brand || r.guessed, r.brand, r.guessed))
  into statuses, websites_of, unregistered, unclaimed, known, mailboxes, blocks, networks, sharers, additions
  from (
    select g.mailbox, g.block, w.id as website, g.kind = 'site' and w.id is null as is_unregistered,
      w.id is not null and w.claimed_at is null as is_unclaimed, k.device is not null as is_known,
      case when k.device is not null then 'device ' || g.device else g.address end as network,
      case when g.block like '%/48' then g.block else g.address end as sharer,
      case when w.proven_at is not null then nullif(jsonb_strip_nulls(jsonb_build_object(
        'fromName', coalesce(nullif(w.brand_name, ''), nullif(u.brand_name, ''), nullif(w.name, '')),
        'logoUrl', coalesce(nullif(w.brand_logo_url, ''), nullif(u.brand_logo_url, ''), '${UPLOADS_PATH}' || w.icon),
        'accent', nullif(w.accent, ''))), '{}') end as brand,
      case when g.kind not in ('registration', 'invitation') and ${isGuessed('g.mailbox', 'guesses')} then '{"guessed": "yes"}'::jsonb end as guessed
    from rows from (jsonb_to_recordset(requests) as (kind text, email text, mailbox text, device text, address text, block text, domain text))
      with ordinality as g (kind, email, mailbox, device, address, block, domain, n)
    -- The limits of one row make PostgreSQL find rows by their keys, whatever it assumes about the sizes of the tables.
    left join lateral (select * from websites w where w.domain = g.domain limit 1) w on true
    left join lateral (select * from users u where u.email = w.email and w.proven_at is not null limit 1) u on true
    left join lateral (select * from remembered_keys k where k.device = decode(g.device, 'hex') and k.email = g.email limit 1) k on true
    order by g.n
  ) r;

  for i in ${inOrderOf('networks')} loop
    ${count(counters.network('networks[i]'), windowOf(NETWORK))}
    first_of_network[i] := hits = 1;
    if hits > per_network then
      statuses[i] := 'network';
      window_ends[i] := window_end;
    end if;
  end loop;

  for i in ${inOrderOf('blocks')} loop
    continue when known[i];
    ${count(counters.block('blocks[i]'), windowOf(BLOCK))}
    continue when hits <= per_block;
    ends := window_end;
    if first_of_network[i] then
      ${count(counters.blockReserve('blocks[i]'), 'ends')}
      continue when hits <= per_block;
    end if;
    statuses[i] := 'network';
    window_ends[i] := ends;
  end loop;

  for i in 1 .. cardinality(statuses) loop
    continue when statuses[i] is not null;
    if unregistered[i] then
      statuses[i] := 'not_registered';
    elsif unclaimed[i] and not exists (
      select from website_recipients r where r.website_id = websites_of[i] and r.day = current_date and r.mailbox = mailboxes[i]
    ) then
      if (select count(*) from website_recipients r where r.website_id = websites_of[i] and r.day = current_date) < ${PROBATION_RECIPIENTS} then
        insert into website_recipients (website_id, day, mailbox) values (websites_of[i], current_date, mailboxes[i]) on conflict do nothing;
      else
        statuses[i] := 'recipients_used_up';
      end if;
    end if;
  end loop;

  -- In the order of their networks too, because the keys of the counters begin with them.
  for i in select n from generate_subscripts(statuses, 1) n where statuses[n] is null order by networks[n], mailboxes[n], n loop
    ${count(counters.pair('networks[i]', 'mailboxes[i]'), windowOf(PAIR))}
    if hits > per_pair then
      statuses[i] := 'pair';
      window_ends[i] := window_end;
    end if;
  end loop;

  for i in select n from generate_subscripts(statuses, 1) n where statuses[n] is null order by mailboxes[n], case when known[n] then networks[n] else '' end, n loop
    if known[i] then
      ${count(counters.mailboxOfDevice('networks[i]', 'mailboxes[i]'), windowOf(MAILBOX))}
      continue when hits <= per_mailbox;
      ends := window_end;
    else
      ${count(counters.mailbox('mailboxes[i]'), windowOf(MAILBOX))}
      continue when hits <= per_mailbox - reserved;
      ends := window_end;
      ${count(counters.share('sharers[i]', 'mailboxes[i]'), windowOf(MAILBOX))}
      if hits <= per_share then
        ${count(counters.reserve('mailboxes[i]'), 'ends')}
        continue when hits <= reserved;
      end if;
    end if;
    statuses[i] := 'mailbox';
    window_ends[i] := ends;
  end loop;

  with sent as materialized (
    select g.*, case when g.mail_kind = 'app_sign_in' then g.client_id end as app_client, now() + ${lifeOf('g')} as expires_at
    from rows from (jsonb_to_recordset(requests) as (id uuid, kind text, email text, mailbox text, language text, browser text, domain text,
      audience text, destination jsonb, client_id text, redirect_uri text, challenge text, state text, mail_kind text, mail_data jsonb))
      with ordinality as g (id, kind, email, mailbox, language, browser, domain, audience, destination, client_id, redirect_uri, challenge,
        state, mail_kind, mail_data, n)
    where statuses[g.n] is null
  ),
  attempts as (
    insert into sign_in_attempts (id, kind, email, mailbox, language, browser, domain, audience, destination, client_id, redirect_uri,
      challenge, state, expires_at)
    select s.id, s.kind, s.email, nullif(s.mailbox, s.email), s.language, decode(s.browser, 'hex'), s.domain, s.audience, s.destination,
      s.client_id, s.redirect_uri, s.challenge, s.state, s.expires_at
    from sent s order by s.id
  ),
  pending as (
    insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
    select s.id, s.mail_kind, s.email, s.language, s.mail_data || coalesce(additions[s.n], '{}'), now() + make_interval(secs => lease_seconds),
      s.expires_at
    from sent s
  )
  ${addActivity(
    {
      action: "'sign_in_requested'",
      email: 's.email',
      signIn: 's.id',
      domain: 's.domain',
      clientId: 's.app_client',
      websiteId: `case when s.app_client is null then websites_of[s.n] else ${websiteOfClient('s.app_client')} end`,
    },
    'sent s',
  )};

  return query select coalesce(r.status, 'sent'), greatest(1, ceil(extract(epoch from window_ends[r.n] - now())))::integer, additions[r.n]
  from unnest(statuses) with ordinality as r (status, n) order by r.n;
end`,
);

/** The functions of PostgreSQL that the service calls. A start loads this file before it serves, so that it imports little. */
export const sqlFunctions: readonly SqlFunction[] = [REQUEST_EMAILS];
