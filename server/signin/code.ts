import { Fault } from '../../contract/errors.ts';
import { MAX_CODE_TRIES, RATE_LIMITS, REPEAT_SECONDS } from '../../contract/limits.ts';
import type { Parsed } from '../../contract/routes.ts';
import type { Browser } from '../accounts/browser.ts';
import type { Database } from '../db/database.ts';
import { Slots } from '../db/slots.ts';
import { type EventRecorder, subjectOf } from '../events/recorder.ts';
import type { Log } from '../log.ts';
import { wrongCodes } from '../metrics/metrics.ts';
import { digest } from '../secrets.ts';
import { type AttemptKind, type AttemptSecrets, clientActive, handleToId } from './attempts.ts';
import type { AddressProven, AttemptOpener, SignedIn } from './opener.ts';

/** An attempt whose code may be compared. `opened`: it is not open any more, and only its result may be given again. */
type Candidate = { id: string; kind: AttemptKind; browser: Buffer; domain: string | null; clientId: string | null; opened: boolean };

/** The browser that began the attempt, or the attempt whose handle a program has. */
type EnteredBy = { browser: Buffer } | { id: string };

/**
 * How many codes one process may compare before their results are counted. Under attack, each instance compares at most this many
 * codes beyond a limit; without a bound, every request that waits for the database would be one more.
 */
const MAX_UNCOUNTED = 8;

const { wrong_codes: OF_NETWORK, wrong_codes_total: IN_TOTAL } = RATE_LIMITS;
const TOTAL_KEY = 'wrong codes';

// Every open attempt of this browser for the address counts the try, before anything is compared. A network without wrong codes
// is never refused, so that an attacker cannot disable codes for everyone. $4 key of the network, $5 its limit, $6 the total limit.
// A code may be sent twice by a double click, so that attempts that were opened a moment ago follow; their codes are no guesses any more.
const tryCode = (column: 'browser' | 'id') => `
with refused as materialized (
  select greatest(1, ceil(extract(epoch from n.resets_at - now())))::integer as seconds from sign_in_limits n
  where n.key = $4 and n.resets_at > now()
    and (n.hits >= $5 or exists (select from sign_in_limits t where t.key = '${TOTAL_KEY}' and t.resets_at > now() and t.hits >= $6))
),
tried as (
  update sign_in_attempts a set code_tries = code_tries + 1
  where ${column} = $1 and email = $2 and consumed_at is null and expires_at > now() and code_tries < ${MAX_CODE_TRIES}
    and case when $3::text is null then kind <> 'app' else kind = 'app' and state = $3 and ${clientActive('a')} end
    and not exists (select from refused)
  returning id, kind, browser, domain, client_id
)
select id, kind, browser, domain, client_id as "clientId", null::integer as seconds, false as opened from tried
union all
select null, null, null, null, null, seconds, false from refused
union all
select id, kind, browser, domain, client_id, null, true from sign_in_attempts
where ${column} = $1 and email = $2 and kind <> 'app' and $3::text is null and consumed_at > now() - interval '${REPEAT_SECONDS} seconds'
  and not exists (select from refused)`;

// A code that is compared with the codes of several emails is as many guesses. $1 key of the network, $2 number of guesses. Every
// statement locks the rows in one order.
const COUNT_WRONG = `
insert into sign_in_limits as l (key, hits, resets_at)
select key, hits, now() + make_interval(secs => seconds)
from (values ('${TOTAL_KEY}', $2::integer, ${IN_TOTAL.duration}), ($1, 1, ${OF_NETWORK.duration})) as wrong (key, hits, seconds) order by key
on conflict (key) do update set
  hits = case when l.resets_at <= now() then excluded.hits else l.hits + excluded.hits end,
  resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
returning key, hits`;

type Parts = {
  core: Database['core'];
  secrets: AttemptSecrets;
  opener: AttemptOpener;
  events: Pick<EventRecorder, 'record'>;
  log: Pick<Log, 'error'>;
  /** Multiplies the limits; 100 in local mode. */
  limitFactor: number;
};

/** The six-digit codes of sign-in emails. */
export class SignInCodes {
  readonly #parts: Parts;
  readonly #slots = new Slots(MAX_UNCOUNTED);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Checks a code in the browser or program that began the attempt, and opens the attempt.
   * @returns for a PKCE attempt its authorization code, which is exchanged with the verifier
   * @throws Fault bad_code, rate_limited
   */
  async enter(
    { email, code, state, attempt }: Parsed<'emailCode'>,
    browser: Browser,
  ): Promise<SignedIn | AddressProven | { code: string }> {
    const { secrets, opener } = this.#parts;
    const id = attempt === undefined ? null : handleToId(attempt);
    // Only a PKCE attempt has a handle, which is valid together with its state.
    if (attempt !== undefined && (id === null || state === undefined)) throw new Fault('bad_code');
    const by = id ? { id } : { browser: digest(browser.attempt) };
    const match = await this.#slots.run(() => this.#match(by, { email, code, state: state ?? null }, browser));
    if (!match) throw new Fault('bad_code', { field: 'code' });
    if (match.kind === 'app') return { code: secrets.link('app', match.id) };
    const signedIn = match.opened
      ? await opener.openAgain(match, browser, email)
      : await opener.open(match, browser, { browser: match.browser, email: null, byCode: true });
    if (!signedIn) throw new Fault('bad_code', { field: 'code' });
    return signedIn;
  }

  /** Counts the try on every open attempt to which the code may belong, then compares. A wrong code also counts for the network and in total. */
  async #match(
    by: EnteredBy,
    entered: { email: string; code: string; state: string | null },
    { clientAddress, requestId }: Browser,
  ): Promise<Candidate | null> {
    const { core, secrets, limitFactor } = this.#parts;
    const network = `${TOTAL_KEY} ${clientAddress}`;
    const [column, value] = 'id' in by ? (['id', by.id] as const) : (['browser', by.browser] as const);
    const { rows } = await core.query<Candidate & { seconds: number | null }>({
      name: `signin-code-${column}`,
      text: tryCode(column),
      values: [value, entered.email, entered.state, network, OF_NETWORK.points * limitFactor, IN_TOTAL.points * limitFactor],
    });
    const [first] = rows;
    if (first && first.seconds !== null)
      throw new Fault('rate_limited', { message: 'Too many wrong codes. Use the link in the email.', retryAfter: first.seconds });
    const match = rows.find(({ kind, id }) => secrets.isCode(kind, id, entered.code));
    const open = rows.filter(({ opened }) => !opened);
    if (!match && open.length > 0)
      await Promise.all([this.#countWrong(network, open.length, requestId), this.#recordWrong(open, entered.email)]);
    return match ?? null;
  }

  /** Adds an event for each website and application to which the code could have belonged. */
  async #recordWrong(candidates: Candidate[], email: string): Promise<void> {
    const domains = new Set(candidates.flatMap((candidate) => subjectOf(candidate) ?? []));
    await Promise.all([...domains].map((domain) => this.#parts.events.record({ domain, kind: 'wrong_code', email })));
  }

  async #countWrong(network: string, guesses: number, request: string | undefined): Promise<void> {
    const { core, log, limitFactor } = this.#parts;
    wrongCodes.count();
    const { rows } = await core.query<{ key: string; hits: number }>({
      name: 'signin-wrong-code',
      text: COUNT_WRONG,
      values: [network, guesses],
    });
    const total = IN_TOTAL.points * limitFactor;
    const hits = rows.find(({ key }) => key === TOTAL_KEY)?.hits ?? 0;
    // The instance whose code crosses the limit logs it.
    if (hits >= total && hits - guesses < total)
      log.error(
        { request, wrongCodes: hits },
        'sign-in: someone may be guessing codes; networks with wrong codes must use the link until the hour ends',
      );
  }
}
