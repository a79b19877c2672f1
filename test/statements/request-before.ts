import { isGuessed } from '../../server/accounts/guesses.ts';
import { lifeOf } from '../../server/signin/attempts.ts';

const PROBATION_RECIPIENTS = 20;

/**
 * Returns CTEs that count the rows of `source` in one counter and rank them: a row passes when its rank in the window is within the limit.
 * Keys are written in order, so that two statements never deadlock.
 * @param resetsAt the end of a window that begins, as SQL over a group of rows with one key
 * @param limit hits that pass in a window, as SQL over a row `s`
 */
const counter = (name: string, source: string, key: string, resetsAt: string, limit: string) => `
${name}_hits as (
  insert into sign_in_limits as l (key, hits, resets_at)
  select ${key}, count(*), ${resetsAt} from ${source} group by ${key} order by ${key}
  on conflict (key) do update set
    hits = case when l.resets_at <= now() then excluded.hits else l.hits + excluded.hits end,
    resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
  returning key, hits, resets_at
),
${name}_ranked as materialized (
  select *, ${name}_rank <= ${limit} as ${name}_passes
  from (
    select s.*, h.hits - count(*) over (partition by s.${key}) + row_number() over (partition by s.${key} order by s.n) as ${name}_rank,
      h.resets_at as ${name}_resets_at
    from ${source} s join ${name}_hits h on h.key = s.${key}
  ) s
),
${name}_passed as (select * from ${name}_ranked where ${name}_passes)`;

const inSeconds = (seconds: number) => `now() + interval '${seconds} seconds'`;

/**
 * Counts the limits, then inserts attempts, pending emails and audit rows. One array per column: row n of all arrays is one request.
 * $1…$17, $25 and $26: the columns of NewAttempt, $18 $19 $20: the limits, $21: the email's lease in seconds.
 * The counters follow one another, so that a request refused by one is not counted by the next. A browser whose device cookie is
 * known for the address has its own counters, which no one else can use up.
 *
 * The networks of one block, an IPv6 /48 or IPv4 /24, get $27 emails in an hour together. A network that has requested none in its hour gets
 * its first one from a reserve of $27 more, so that the others of the block cannot lock it out.
 *
 * Of the $20 emails that a mailbox gets in an hour, $23 are a reserve of which a network (IPv6: a /48) gets $24. So it takes requests
 * from that many networks to refuse a browser that is not known. The window of the reserve ends with the mailbox's, so that no hour of
 * it has more than $20 emails. Notices about domains count for the mailbox too, and get nothing of the reserve (mail/store.ts).
 *
 * A website that is not claimed yet may send to a number of different mailboxes a day. To count them exactly, its requests run
 * alone, one after the other, with $22 true; without it the result is `on_probation` and nothing is done.
 *
 * `added`: the branding of the website or else of its account, once the domain is proven, and whether more than $28 wrong codes were entered
 * for the mailbox. It is in the outbox too, so that every retry sends the same email.
 */
export const REQUEST = `
with given as materialized (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::jsonb[], $25::text[], $26::text[])
  with ordinality as g (id, kind, email, mailbox, language, browser, device, address, domain,
    host, forward_url, client_id, redirect_uri, challenge, state, mail_kind, mail_data, conditions, block, n)
),
target as materialized (
  select g.*, w.id as website, w.id is not null and w.claimed_at is null as unclaimed, g.kind <> 'site' or w.id is not null as registered,
    k.device is not null as known,
    'address ' || coalesce('device ' || encode(k.device, 'hex'), g.address) as address_key,
    'pair ' || coalesce('device ' || encode(k.device, 'hex'), g.address) || ' ' || g.mailbox as pair_key,
    'block ' || g.block as block_key, 'spare ' || g.block as spare_key,
    'mailbox ' || coalesce('device ' || encode(k.device, 'hex') || ' ', '') || g.mailbox as mailbox_key,
    case when w.proven_at is not null then nullif(jsonb_strip_nulls(jsonb_build_object(
      'fromName', coalesce(nullif(w.brand_name, ''), nullif(u.brand_name, ''), nullif(w.name, '')),
      'logoUrl', coalesce(nullif(w.brand_logo_url, ''), nullif(u.brand_logo_url, '')),
      'accent', nullif(w.accent, ''))), '{}') end as brand,
    case when g.kind not in ('registration', 'invitation') and ${isGuessed('g.mailbox', '$28')} then '{"guessed": "yes"}'::jsonb end as guessed
  from given g
  left join websites w on w.domain = g.domain
  left join users u on u.email = w.email and w.proven_at is not null
  left join remembered_keys k on k.device = g.device and k.email = g.email
),
counted as (select * from target where $22 or not unclaimed),
${counter('address', 'counted', 'address_key', inSeconds(3600), '$18')},
unknown as (select * from address_passed where not known),
${counter('block', 'unknown', 'block_key', inSeconds(3600), '$27')},
over_block as (select * from block_ranked where not block_passes and address_rank = 1),
${counter('spare', 'over_block', 'spare_key', 'min(block_resets_at)', '$27')},
deliverable as materialized (
  select p.* from address_passed p left join block_ranked b on b.n = p.n left join spare_passed q on q.n = p.n
  where (p.known or b.block_passes or q.n is not null) and p.registered and (not p.unclaimed
    or exists (select from website_recipients r where r.website_id = p.website and r.day = current_date and r.mailbox = p.mailbox)
    or (select count(*) from website_recipients r where r.website_id = p.website and r.day = current_date) < ${PROBATION_RECIPIENTS})
),
recipients as (
  insert into website_recipients (website_id, day, mailbox)
  select distinct website, current_date, mailbox from deliverable where unclaimed order by 1, 3
  on conflict do nothing
),
${counter('pair', 'deliverable', 'pair_key', inSeconds(900), '$19')},
${counter('mailbox', 'pair_passed', 'mailbox_key', inSeconds(3600), 'case when s.known then $20::integer else $20 - $23 end')},
over_limit as (
  select *, 'share ' || case when block like '%/48' then block else address end || ' ' || mailbox as share_key,
    'reserve ' || mailbox as reserve_key
  from mailbox_ranked where not mailbox_passes and not known
),
${counter('share', 'over_limit', 'share_key', inSeconds(3600), '$24')},
${counter('reserve', 'share_passed', 'reserve_key', 'min(mailbox_resets_at)', '$23')},
granted as materialized (
  select m.* from mailbox_ranked m left join reserve_ranked r on r.n = m.n where m.mailbox_passes or r.reserve_passes
),
attempts as (
  insert into sign_in_attempts (id, kind, email, mailbox, language, browser, domain, host, forward_url, client_id, redirect_uri, challenge, state,
    conditions, expires_at)
  select id, kind, email, nullif(mailbox, email), language, browser, domain, host, forward_url, client_id, redirect_uri, challenge, state,
    conditions, now() + ${lifeOf('granted')}
  from granted order by id
),
pending as (
  insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
  select id, mail_kind, email, language, mail_data || coalesce(brand, '{}') || coalesce(guessed, '{}'), now() + make_interval(secs => $21), now() + ${lifeOf('granted')}
  from granted
),
audit as (
  insert into audit_log (action, email, domain, client_id)
  select 'sign_in_requested', email, domain, case when mail_kind = 'app_sign_in' then client_id end from granted
)
select case
    when a.n is null then 'on_probation'
    when not a.address_passes or not (t.known or b.block_passes or q.n is not null) then 'address'
    when not t.registered then 'not_registered'
    when p.n is null then 'recipients_used_up'
    when not p.pair_passes then 'pair'
    when s.n is null then 'mailbox'
    else 'sent' end as status,
  greatest(1, ceil(extract(epoch from case when not a.address_passes then a.address_resets_at
    when not (t.known or b.block_passes or q.n is not null) then b.block_resets_at when not p.pair_passes then p.pair_resets_at
    else m.mailbox_resets_at end - now())))::integer as retry_after,
  coalesce(t.brand || t.guessed, t.brand, t.guessed) as added
from target t
left join address_ranked a on a.n = t.n
left join block_ranked b on b.n = t.n
left join spare_passed q on q.n = t.n
left join pair_ranked p on p.n = t.n
left join mailbox_ranked m on m.n = t.n
left join granted s on s.n = t.n
order by t.n`;
