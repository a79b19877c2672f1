import { ATTEMPT_SECONDS, TOKEN_SECONDS } from '../../contract/limits.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';

/**
 * The three hot statements of the sign-in core. Each takes one array per column, row n of all arrays being one call, and
 * does in one commit what that call does: single use is the `update … where … is null` inside.
 */

/**
 * Counts one bucket for the rows of `source` and ranks them: a row passes when its rank is within the limit. Keys are
 * written in order, so that two statements never wait for each other in a circle.
 * @param resetsAt the end of a window that begins, as SQL over a group of rows with one key
 * @param limit hits that pass in a window, as SQL over a row `s`
 */
const bucket = (name: string, source: string, key: string, resetsAt: string, limit: string) => `
${name}_hits as (
  insert into sign_in_limits as l (key, hits, resets_at)
  select ${key}, count(*), ${resetsAt} from ${source} group by ${key} order by ${key}
  on conflict (key) do update set
    hits = case when l.resets_at <= now() then excluded.hits else l.hits + excluded.hits end,
    resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
  returning key, hits, resets_at
),
${name}_ranked as materialized (
  select s.*, h.hits - count(*) over (partition by s.${key}) + row_number() over (partition by s.${key} order by s.n) <= ${limit} as ${name}_passes,
    h.resets_at as ${name}_resets_at
  from ${source} s join ${name}_hits h on h.key = s.${key}
),
${name}_passed as (select * from ${name}_ranked where ${name}_passes)`;

/**
 * Whether an attempt has ended because another one of the same browser, address and target was used while it was open. Asked
 * when it matters rather than written at once, so that no statement ever waits for the rows of two attempts.
 * @param attempt alias of the row
 * @param seconds life of an attempt, as SQL
 */
export const endedBySibling = (attempt: string, seconds: string) => `exists (
      select from sign_in_attempts sibling
      where sibling.browser = ${attempt}.browser and sibling.id <> ${attempt}.id and sibling.kind = ${attempt}.kind
        and sibling.email = ${attempt}.email and sibling.domain is not distinct from ${attempt}.domain
        and sibling.client_id is not distinct from ${attempt}.client_id
        and sibling.consumed_at > ${attempt}.expires_at - make_interval(secs => ${seconds}))`;

/**
 * Whether the client of an attempt is an application that exists and was never switched off since.
 * @param attempt alias of the row
 */
export const applicationGoesOn = (attempt: string) => `exists (select from applications p
      where p.client_id = ${attempt}.client_id and p.is_active
        and p.active_since <= ${attempt}.expires_at - interval '${ATTEMPT_SECONDS} seconds')`;

/**
 * Whether the client of an attempt may go on with it: a built-in one, or an application that was never switched off since.
 * @param attempt alias of the row
 */
export const clientGoesOn = (attempt: string) =>
  `(${attempt}.client_id in ('${WEB_CLIENT_ID}', '${CLI_CLIENT_ID}') or ${applicationGoesOn(attempt)})`;

/**
 * Whether the registration of a website is the one for which something was issued: since then it was neither deleted nor taken
 * over nor moved to another domain. Null, which is not true, when the domain is not registered. A scalar subquery on the unique
 * index, which the planner cannot turn into a join over all websites.
 * @param domain the website's domain, as SQL
 * @param issuedAt as SQL
 */
export const sameRegistration = (domain: string, issuedAt: string) =>
  `(select coalesce(w.moved_at, w.created_at) from websites w where w.domain = ${domain}) <= ${issuedAt}`;

// Any number will do, as long as every instance takes the same one.
const SIGN_OUT_LOCK = 4_127_002;

/**
 * Whether the account of an address is not being signed out at this moment. What a statement with this condition issues has
 * either been issued before a sign-out begins, which then sees and ends it, or not at all. Never waits.
 * @param email the address, as SQL
 */
export const notBeingSignedOut = (email: string) => `pg_try_advisory_xact_lock_shared(${SIGN_OUT_LOCK}, hashtext(${email}))`;

/** Begins the transaction of a sign-out of the account $1, when all that was being issued to it is there. */
export const BEGIN_SIGN_OUT = `select pg_advisory_xact_lock(${SIGN_OUT_LOCK}, hashtext($1))`;

const inSeconds = (seconds: number) => `now() + interval '${seconds} seconds'`;
const DEVICE_LOCK = 4_127_003;

/**
 * Locks the device $1 until the end of the transaction, before a sign-in replaces its session. The next statement sees what the
 * previous holder of the lock has committed.
 */
export const BEGIN_SESSION_CHANGE = `select pg_advisory_xact_lock(${DEVICE_LOCK}, hashtext(encode($1, 'hex')))`;

/**
 * Locks the devices $1 and, as BEGIN_SIGN_OUT does, the accounts with a session or a key on them. Accounts come first, each kind
 * in one order, so that two logouts never wait for each other; a sign-in holds a device and never waits for an account.
 */
export const LOCK_LOGOUT = `
with accounts as (
  select email from remembered_keys where device = any($1::bytea[])
  union
  select u.email from sessions s join users u on u.id = s.user_id where s.device = any($1)
),
locks as materialized (
  select ${SIGN_OUT_LOCK} as kind, hashtext(email) as key from accounts
  union
  select ${DEVICE_LOCK}, hashtext(encode(device, 'hex')) from unnest($1) device
  order by kind, key
)
select pg_advisory_xact_lock(kind, key) from locks`;

/** Different mailboxes that a site may mail a day before its owner has signed in once. */
const PROBATION_RECIPIENTS = 20;

/**
 * $1…$17 the columns of NewAttempt, $18 $19 $20 the limits, $21 life of an attempt and $22 the mail's lease, in seconds.
 * The buckets follow one another, so that what one refuses costs the next nothing. A browser whose device cookie is known
 * for the address has buckets of its own: nobody else can use them up.
 *
 * Of the $20 mails that a mailbox gets in an hour, $24 are a reserve of which a network (IPv6: a /48) gets $25. So it takes requests from
 * as many networks to refuse a browser that is not known. The window of the reserve ends with the mailbox's, so that no hour of it has more
 * than $20 mails. Notices about domains count in the mailbox's bucket too, and get nothing of the reserve (mail/store.ts).
 *
 * A site that nobody claimed yet may mail a number of different mailboxes a day. To count them exactly, its requests come
 * alone, one after the other, with $23 true; without it they are answered `on_probation` and nothing is done.
 *
 * `brand`: the branding of the website's account, once the domain is proven; the owed row has it too, so that every retry sends
 * the same mail.
 */
export const REQUEST = `
with given as materialized (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::jsonb[])
  with ordinality as g (id, kind, email, mailbox, language, browser, device, address, domain,
    host, forward_url, client_id, redirect_uri, challenge, state, mail_kind, mail_data, n)
),
target as materialized (
  select g.*, w.id as website, w.id is not null and w.claimed_at is null as unclaimed, g.kind <> 'site' or w.id is not null as registered,
    k.device is not null as known,
    'address ' || coalesce('device ' || encode(k.device, 'hex'), g.address) as address_key,
    'pair ' || coalesce('device ' || encode(k.device, 'hex'), g.address) || ' ' || g.mailbox as pair_key,
    'mailbox ' || coalesce('device ' || encode(k.device, 'hex') || ' ', '') || g.mailbox as mailbox_key,
    case when u.brand_name <> '' or u.brand_logo_url <> ''
      then jsonb_build_object('fromName', u.brand_name, 'logoUrl', u.brand_logo_url) end as brand
  from given g
  left join websites w on w.domain = g.domain
  left join users u on u.email = w.email and w.proven_at is not null
  left join remembered_keys k on k.device = g.device and k.email = g.email
),
counted as (select * from target where $23 or not unclaimed),
${bucket('address', 'counted', 'address_key', inSeconds(3600), '$18')},
wanted as materialized (
  select * from address_passed p where p.registered and (not p.unclaimed
    or exists (select from website_recipients r where r.website_id = p.website and r.day = current_date and r.mailbox = p.mailbox)
    or (select count(*) from website_recipients r where r.website_id = p.website and r.day = current_date) < ${PROBATION_RECIPIENTS})
),
recipients as (
  insert into website_recipients (website_id, day, mailbox)
  select distinct website, current_date, mailbox from wanted where unclaimed order by 1, 3
  on conflict do nothing
),
${bucket('pair', 'wanted', 'pair_key', inSeconds(900), '$19')},
${bucket('mailbox', 'pair_passed', 'mailbox_key', inSeconds(3600), 'case when s.known then $20::integer else $20 - $24 end')},
beyond as (
  select *, 'share ' || coalesce(substring(address from '^(.*):[^:]*::/64$'), address) || ' ' || mailbox as share_key,
    'reserve ' || mailbox as reserve_key
  from mailbox_ranked where not mailbox_passes and not known
),
${bucket('share', 'beyond', 'share_key', inSeconds(3600), '$25')},
${bucket('reserve', 'share_passed', 'reserve_key', 'min(mailbox_resets_at)', '$24')},
granted as materialized (
  select m.* from mailbox_ranked m left join reserve_ranked r on r.n = m.n where m.mailbox_passes or r.reserve_passes
),
attempts as (
  insert into sign_in_attempts (id, kind, email, language, browser, domain, host, forward_url, client_id, redirect_uri, challenge, state, expires_at)
  select id, kind, email, language, browser, domain, host, forward_url, client_id, redirect_uri, challenge, state, now() + make_interval(secs => $21)
  from granted order by id
),
owed as (
  insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
  select id, mail_kind, email, language, mail_data || coalesce(brand, '{}'), now() + make_interval(secs => $22), now() + make_interval(secs => $21)
  from granted
),
audit as (
  insert into audit_log (action, email, domain, client_id)
  select 'sign_in_requested', email, domain, case when mail_kind = 'app_sign_in' then client_id end from granted
)
select case
    when a.n is null then 'on_probation'
    when not a.address_passes then 'address'
    when not t.registered then 'not_registered'
    when p.n is null then 'recipients_used_up'
    when not p.pair_passes then 'pair'
    when s.n is null then 'mailbox'
    else 'sent' end as verdict,
  greatest(1, ceil(extract(epoch from case when not a.address_passes then a.address_resets_at when not p.pair_passes then p.pair_resets_at
    else m.mailbox_resets_at end - now())))::integer as retry_after,
  t.brand
from target t
left join address_ranked a on a.n = t.n
left join pair_ranked p on p.n = t.n
left join mailbox_ranked m on m.n = t.n
left join granted s on s.n = t.n
order by t.n`;

/**
 * THE LINE THAT CONSUMES A LINK. $1…$7 and $10 the columns of Opening, $8 life of a token and $9 of an attempt, in seconds. Of several
 * openings of one attempt, here or in another process, one is returned. The audit row tells how many whole seconds the visitor
 * took: less than $9, as the attempt had not expired.
 */
export const OPEN = `
with given as materialized (
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $10::text[])
  with ordinality as g (id, browser, email, token, device, selector, verifier, label, n)
),
consumed as (
  update sign_in_attempts a set consumed_at = now()
  from given g
  where a.id = g.id and a.kind <> 'app' and a.consumed_at is null and a.expires_at > now()
    and (a.browser = g.browser or a.email = g.email)
    and (a.domain is null or ${sameRegistration('a.domain', 'a.expires_at - make_interval(secs => $9)')})
    and not ${endedBySibling('a', '$9')}
  returning g.n, a.id, a.kind, a.email, a.domain, a.host, a.forward_url, a.browser, a.expires_at,
    g.token, g.device, g.selector, g.verifier, g.label
),
issued as (
  insert into tokens (hash, domain, host, email, browser, expires_at)
  select token, domain, host, email, browser, now() + make_interval(secs => $8) from consumed
),
remembered as (
  insert into remembered_keys (selector, device, label, email, verifier, expires_at)
  select distinct on (device, email) selector, device, label, email, verifier, now() + interval '400 days' from consumed order by device, email, n
  on conflict (device, email) do update set selector = excluded.selector, verifier = excluded.verifier, label = excluded.label,
    previous_verifier = null, rotated_at = now(), used_at = now(), expires_at = excluded.expires_at
),
audit as (
  insert into audit_log (action, email, domain, seconds)
  select 'signed_in', email, domain, greatest(0, floor($9 - extract(epoch from expires_at - now()))) from consumed
)
select n::integer, email, forward_url from consumed`;

const SAME_REGISTRATION = sameRegistration('t.domain', `t.expires_at - interval '${TOKEN_SECONDS} seconds'`);

/**
 * THE LINE THAT USES A TOKEN UP. $1 hashes, $2 the hosts that ask (null: not said), $3 hashed Idempotency-Keys.
 * The life is compared in a form that no index serves: the planner must come by the hash, also while the table is small.
 */
export const USE = `
with used as (
  update tokens t set used_at = now(), idempotency_key = g.idempotency_key
  from unnest($1::bytea[], $2::text[], $3::bytea[]) with ordinality as g (hash, host, idempotency_key, n)
  where t.hash = g.hash and t.used_at is null and (t.expires_at > now()) is true and t.host = coalesce(g.host, t.host)
    and ${SAME_REGISTRATION}
  returning g.n, t.email, t.domain, t.host
),
audit as (
  insert into audit_log (action, email, domain) select 'token_verified', email, domain from used
)
select n::integer, email, host from used`;

/**
 * Why a token was not used up, with the parameters of USE and after it: whoever was quicker has committed by then. Within
 * 60 s the same Idempotency-Key gets the first answer again.
 */
export const REFUSAL = `
select t.host,
  case when t.idempotency_key = g.idempotency_key and t.used_at > now() - interval '60 seconds' and t.host = coalesce(g.host, t.host)
    then t.email end as email,
  case
    when t.hash is null or t.host is null then 'unknown'
    when t.host <> g.host then 'other_domain'
    when t.used_at is null and t.expires_at <= now() then 'expired'
    when t.used_at is null and (${SAME_REGISTRATION}) is not true then 'unknown'
    else 'used' end as reason
from unnest($1::bytea[], $2::text[], $3::bytea[]) with ordinality as g (hash, host, idempotency_key, n)
left join tokens t on t.hash = g.hash
order by g.n`;
