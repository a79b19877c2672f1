import { MAX_CODE_TRIES, REPEAT_SECONDS, SPARE_WRONG_CODES } from '../../../contract/limits.ts';
import { RATE_LIMITS } from '../../../contract/rate-limits.ts';
import type { Database } from '../../platform/db/database.ts';
import { addHits, counters, windowOf } from '../../platform/db/rate-limits.ts';
import { clientActive, hasIdOf, isKnown } from '../attempt-conditions.ts';
import type { AttemptKind } from '../attempts.ts';
import { GUESSES, isGuessed } from '../guesses.ts';

/**
 * An open attempt with tries left, or one that was opened a moment ago (`opened`): a double click sends a code twice. `known`: the device
 * of the browser is known for the address.
 */
export type Candidate = {
  id: string;
  kind: AttemptKind;
  browser: Buffer;
  domain: string | null;
  clientId: string | null;
  known: boolean;
  opened: boolean;
};

/** The browser that began the attempt, or the attempt whose handle a program has. */
export type EnteredBy = { browser: Buffer } | { id: string };

/** A code that was entered, and the attempt whose code it is, or null. */
type Try = {
  candidates: readonly Candidate[];
  match: string | null;
  mailbox: string;
  /** The network as wrong codes are counted: an IPv6 /48 or an IPv4 address. */
  network: string;
  device: Buffer;
};

/**
 * What a try amounts to. `tried`: the attempts with whose codes it counts as compared. `retryAfter`: seconds, where a limit refuses it. `triesLeft`: how many
 * more codes one of the attempts accepts. `total`: wrong codes in this hour with this one; null when it was not counted there.
 */
type Judged = { tried: string[]; retryAfter: number | null; triesLeft: number; total: number | null };

const { wrong_codes: OF_NETWORK, wrong_codes_total: IN_TOTAL } = RATE_LIMITS;
const OF_NETWORK_COUNTER = counters.wrongCodes('$5::text');
const TOTAL_COUNTER = counters.wrongCodesInTotal;

/** $1 browser or id, $2 address, $3 state, $4 device. */
const candidates = (column: 'browser' | 'id') => `
select id, kind, browser, domain, client_id as "clientId", ${isKnown('$4', '$2')} as known, consumed_at is not null as opened
from sign_in_attempts a
where ${column} = $1 and email = $2
  and case when $3::text is null then kind <> 'app' else kind = 'app' and state = $3 and ${clientActive('a')} end
  and (consumed_at is null and expires_at > now() and code_tries < ${MAX_CODE_TRIES}
    or consumed_at > now() - interval '${REPEAT_SECONDS} seconds' and kind <> 'app')`;

/**
 * Judges a code in one statement, after it was compared: whether the attempts and the limits accept it. The response depends on nothing
 * else, so that of concurrent tries, at any instances, exactly as many are accepted as the limits allow. A right code adds nothing to a
 * counter, but waits for the wrong ones that are being counted. Right codes do not wait for one another.
 *
 * A code that is compared with the codes of several emails is as many guesses, the newest first. The rows are locked in one order: the
 * attempts by id, then network, mailbox and total. A right code only reads the total.
 *
 * $1 ids of the candidates, $2 the least and $3 the greatest, so that only their partitions are searched; $4 the id of the attempt whose
 * code it is, $5 the network or the known device, $6 its limit, $7 mailbox, $8 its limit, $9 whether the browser is known, $10 the total limit,
 * $11 the spare one.
 */
const JUDGE = `
with open as materialized (
  select id, code_tries from sign_in_attempts
  where id = any($1) and id between $2 and $3 and consumed_at is null and expires_at > now() and code_tries < ${MAX_CODE_TRIES}
    and (code_tries = 0 or $9 or not ${isGuessed('$7::text', '$8')})
  order by id for update
),
guess as materialized (
  select count(*)::integer as guesses, case when $4::uuid is null then count(*) else 0 end::integer as wrong from open having count(*) > 0
),
network as (${addHits({ key: OF_NETWORK_COUNTER, hits: 'wrong', windowEnd: windowOf(OF_NETWORK), from: 'from guess where wrong > 0' })}),
network_before as materialized (
  select hits, resets_at from rate_limits where key = ${OF_NETWORK_COUNTER} and resets_at > now() and exists (select from guess where wrong = 0) for share
),
of_network as materialized (
  select g.*, coalesce(n.hits - wrong, b.hits, 0) as before, $6::integer - coalesce(n.hits - wrong, b.hits, 0) as room,
    coalesce(n.resets_at, b.resets_at) as resets_at
  from guess g left join network n on true left join network_before b on true
),
mailbox_after as (${addHits({
  key: counters.guesses('$7'),
  hits: 'wrong',
  windowEnd: windowOf(GUESSES),
  from: 'from of_network where room > 0 and wrong > 0 and not $9',
})}),
mailbox_before as materialized (
  select hits from rate_limits
  where key = ${counters.guesses('$7')} and resets_at > now() and exists (select from of_network where room > 0 and wrong = 0 and not $9)
  for share
),
mailbox as materialized (select hits from mailbox_after union all select hits from mailbox_before),
accepted as materialized (
  select o.id, o.before
  from (select open.id, code_tries, w.*, row_number() over (order by open.id desc) as newest from open cross join of_network w) o
  left join mailbox m on true
  where newest <= room and (m.hits is null or code_tries = 0 or newest <= $8::integer - (m.hits - wrong))
),
total as (${addHits({
  key: TOTAL_COUNTER,
  hits: 'count(*)',
  windowEnd: windowOf(IN_TOTAL),
  from: 'from accepted where $4 is null and not $9 having count(*) > 0',
  condition:
    'l.hits + excluded.hits <= $10::integer + case when exists (select from accepted where before = 0) then $11::integer else 0 end',
})}),
over_total as materialized (
  select coalesce((select resets_at from rate_limits where key = ${TOTAL_COUNTER}), ${windowOf(IN_TOTAL)}) as resets_at
  where not $9 and case when $4 is null then exists (select from accepted) and not exists (select from total)
    else exists (select from rate_limits t where t.key = ${TOTAL_COUNTER} and t.resets_at > now()
      and t.hits + (select count(*) from accepted) > $10 + case when exists (select from accepted where before = 0) then $11 else 0 end) end
),
permitted as materialized (select id from accepted where not exists (select from over_total)),
tried as (
  update sign_in_attempts a set code_tries = a.code_tries + 1 from permitted
  where a.id = any($1) and a.id between $2 and $3 and ${hasIdOf('a', 'permitted')}
  returning a.id, a.code_tries
)
select coalesce((select array_agg(id::text) from tried), '{}') as tried,
  (select greatest(1, ceil(extract(epoch from resets_at - now())))::integer
    from (select resets_at from of_network where room <= 0 union all select resets_at from over_total) refused limit 1) as "retryAfter",
  coalesce((
    select max(case when m.hits >= $8 then case when coalesce(t.code_tries, o.code_tries) = 0 then 1 else 0 end
      else ${MAX_CODE_TRIES} - coalesce(t.code_tries, o.code_tries) end)
    from open o left join tried t on t.id = o.id left join mailbox m on true
  ), 0)::integer as "triesLeft",
  (select hits from total) as total`;

/** The tries of codes, and the limits of wrong ones. */
export class CodeTries {
  readonly #core: Database['core'];
  readonly #limits: { network: number; mailbox: number; total: number; spare: number };

  /** @param limitFactor multiplies the limits; 100 in local mode */
  constructor(core: Database['core'], limitFactor: number) {
    this.#core = core;
    this.#limits = {
      network: OF_NETWORK.points * limitFactor,
      mailbox: GUESSES.points * limitFactor,
      total: IN_TOTAL.points * limitFactor,
      spare: SPARE_WRONG_CODES * limitFactor,
    };
  }

  /** Returns the attempts to which a code may belong, without counting anything. */
  async candidates(by: EnteredBy, entered: { email: string; state: string | null }, device: Buffer): Promise<Candidate[]> {
    const [column, value] = 'id' in by ? (['id', by.id] as const) : (['browser', by.browser] as const);
    const { rows } = await this.#core.query<Candidate>({
      name: `signin-code-${column}`,
      text: candidates(column),
      values: [value, entered.email, entered.state, device],
    });
    return rows;
  }

  /** Counts a try and judges it. A browser that is known for the address has a counter of its own, and no other limit applies to it. */
  async judge({ candidates, match, mailbox, network, device }: Try): Promise<Judged & { crossesTotal: boolean }> {
    const ids = candidates.map(({ id }) => id).sort();
    const [{ known }] = candidates;
    const limits = this.#limits;
    const counted = known ? `device ${device.toString('hex')}` : network;
    const { rows } = await this.#core.query<Judged>({
      name: 'signin-code-judge',
      text: JUDGE,
      values: [
        ids,
        ids[0],
        ids[ids.length - 1],
        match,
        counted,
        limits.network,
        mailbox,
        limits.mailbox,
        known,
        limits.total,
        limits.spare,
      ],
    });
    const [judged] = rows;
    const { total, tried } = judged;
    return { ...judged, crossesTotal: total !== null && total >= limits.total && total - tried.length < limits.total };
  }
}
