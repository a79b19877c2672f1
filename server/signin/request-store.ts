import type pg from 'pg';
import { MAIL_BLOCK_FACTOR, RATE_LIMITS, RESERVED_MAILS } from '../../contract/limits.ts';
import { GUESSES, isGuessed } from '../accounts/guesses.ts';
import { batched } from '../db/batch.ts';
import type { Query } from '../db/database.ts';
import { Slots } from '../db/slots.ts';
import { type AttemptKind, lifeOf } from './attempts.ts';

/** A request for an email: one row of `sign_in_attempts`, with its pending email. */
export type NewAttempt = {
  id: string;
  kind: AttemptKind;
  email: string;
  mailbox: string;
  language: string;
  /** SHA-256 of the browser's attempt cookie. */
  browser: Buffer;
  /** SHA-256 of its device cookie. */
  device: Buffer | null;
  clientAddress: string;
  /** The IPv6 /48 or IPv4 /24 of the client's address. */
  block: string;
  /** For the log. */
  requestId?: string;
  /** Names the browser and system in the email; it is not stored. */
  userAgent: string;
  /** Registered domain; null for the portal and for OAuth clients. */
  domain: string | null;
  /** The host that the token will be for; for a registration or invitation, the domain. */
  host: string | null;
  forwardUrl: string | null;
  clientId: string | null;
  redirectUri: string | null;
  challenge: string | null;
  state: string | null;
  /** What the website asks of the sign-in, as the parameters of the sign-in page. */
  conditions: string | null;
  mailKind: string;
  mailData: Record<string, string>;
};

export type Limit = 'address' | 'pair' | 'mailbox';
export type RequestResult =
  /** `added`: what the pending email contains besides its own data. */
  | { status: 'sent'; added: Record<string, string> | null }
  | { status: 'not_registered' | 'recipients_used_up' | 'on_probation' }
  | { status: 'limited'; limit: Limit; retryAfter: number };

type Queryable = Pick<pg.ClientBase, 'query'>;

/** How long a batch waits for more requests under load; not noticeable beside the delivery of an email. */
const BATCH_DELAY_MS = 4;

const { mails_to_address: PAIR, mails_to_mailbox: MAILBOX } = RATE_LIMITS;
/** How many emails each limit of the request statement allows, without that of a network; the statement itself contains the windows. */
const LIMITS = { pair: PAIR.points, mailbox: MAILBOX.points, reserve: RESERVED_MAILS, share: 1 };

/**
 * Requests for websites that are not claimed yet that one process runs at once. Each keeps a connection while it waits for the website's
 * lock, and anyone can register a website and send many: the other connections stay for all other requests.
 */
const MAX_ON_PROBATION = 2;

/** Different mailboxes that a website may send to in a day before its owner has signed in once. */
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
const REQUEST = `
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

const LOCK_WEBSITE = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

/** The statements that begin an attempt. Every clock in them is the database's. */
export class RequestStore {
  readonly #core: pg.Pool;
  readonly #limitFactor: number;
  readonly #mailsPerNetwork: number;
  readonly #leaseSeconds: number;
  readonly #onProbation = new Slots(MAX_ON_PROBATION);
  readonly #requestBatched: (attempt: NewAttempt) => Promise<RequestResult>;

  /**
   * @param options.limitFactor multiplies the rate limits
   * @param options.mailsPerNetwork how many emails one network address may request in an hour
   * @param options.leaseSeconds how long this process has for sending the email, before others may take it over
   */
  constructor(
    core: pg.Pool,
    { limitFactor, mailsPerNetwork, leaseSeconds }: { limitFactor: number; mailsPerNetwork: number; leaseSeconds: number },
  ) {
    this.#core = core;
    this.#limitFactor = limitFactor;
    this.#mailsPerNetwork = mailsPerNetwork;
    this.#leaseSeconds = leaseSeconds;
    this.#requestBatched = batched('signin-request', (attempts) => this.#requestAll(core, attempts, false), { delayMs: BATCH_DELAY_MS });
  }

  /** Counts the limits, then inserts attempt, pending email and audit row together. */
  async request(attempt: NewAttempt): Promise<RequestResult> {
    const result = await this.#requestBatched(attempt);
    if (result.status !== 'on_probation') return result;
    // The lock is a statement of its own, so that the next one sees what its last holder did. A refusal is counted like any other.
    return this.#onProbation.run(() => this.requestAfter((query) => query(LOCK_WEBSITE, [attempt.domain]), attempt, 'commit'));
  }

  /** Does the same in one transaction after `first`. When that fails or no email is sent, both are rolled back. */
  async requestAfter(
    first: (query: Query) => Promise<unknown>,
    attempt: NewAttempt,
    onRefusal: 'commit' | 'rollback' = 'rollback',
  ): Promise<RequestResult> {
    const client = await this.#core.connect();
    try {
      await client.query('begin');
      await first((text, values) => client.query(text, values));
      const [result] = await this.#requestAll(client, [attempt], true);
      await client.query(result.status === 'sent' ? 'commit' : onRefusal);
      client.release();
      return result;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  }

  /** Records that the receiving mail server rejected the email of an attempt, which the waiting page then shows. */
  async markMailFailed(id: string): Promise<void> {
    const text = 'update sign_in_attempts set mail_failed = true where id = $1';
    await this.#core.query({ name: 'signin-mail-failed', text, values: [id] });
  }

  async #requestAll(on: Queryable, attempts: NewAttempt[], alone: boolean): Promise<RequestResult[]> {
    const column = <Key extends keyof NewAttempt>(key: Key) => attempts.map((attempt) => attempt[key]);
    const { rows } = await on.query<{ status: string; retry_after: number; added: Record<string, string> | null }>({
      name: 'signin-request',
      text: REQUEST,
      values: [
        column('id'),
        column('kind'),
        column('email'),
        column('mailbox'),
        column('language'),
        column('browser'),
        column('device'),
        column('clientAddress'),
        column('domain'),
        column('host'),
        column('forwardUrl'),
        column('clientId'),
        column('redirectUri'),
        column('challenge'),
        column('state'),
        column('mailKind'),
        attempts.map(({ mailData }) => JSON.stringify(mailData)),
        this.#mailsPerNetwork * this.#limitFactor,
        LIMITS.pair * this.#limitFactor,
        LIMITS.mailbox * this.#limitFactor,
        this.#leaseSeconds,
        alone,
        LIMITS.reserve * this.#limitFactor,
        LIMITS.share * this.#limitFactor,
        column('conditions'),
        column('block'),
        MAIL_BLOCK_FACTOR * this.#mailsPerNetwork * this.#limitFactor,
        GUESSES.points * this.#limitFactor,
      ],
    });
    return rows.map(({ status, retry_after, added }) => {
      if (status === 'sent') return { status, added };
      if (status === 'not_registered' || status === 'recipients_used_up' || status === 'on_probation') return { status };
      return { status: 'limited', limit: status as Limit, retryAfter: retry_after };
    });
  }
}
