import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import { MAX_CODE_TRIES, RATE_LIMITS } from '../../contract/limits.ts';
import type { Log } from '../log.ts';
import type { AttemptKind } from './secrets.ts';
import { clientGoesOn } from './statements.ts';

/** An open attempt whose code may be compared. */
export type CodeCandidate = { id: string; kind: AttemptKind; browser: Buffer };

export type CodeTry = {
  /** The browser that began, or the attempt whose handle a program has. */
  by: { browser: Buffer } | { id: string };
  email: string;
  /** Of a PKCE attempt. */
  state: string | null;
  clientAddress: string;
};

export type CodeTries = {
  /**
   * Counts a try of a code on every open attempt that it may belong to, then compares. A wrong code also counts for the network
   * and in all.
   * @param isRight whether the code is the one of an attempt
   * @returns the attempt, or null when the code is of none
   * @throws Fault rate_limited while codes are refused to the network
   */
  find(tried: CodeTry, isRight: (candidate: CodeCandidate) => boolean): Promise<CodeCandidate | null>;
  /** Returns the number of wrong codes since the process began. */
  wrongCodes(): number;
};

/**
 * Tries that one process has between the check of the limits and the count of a wrong code. Two instances under attack together
 * compare at most so many codes each beyond a limit; without a bound every request that waits for the database would be one more.
 */
const MAX_UNCOUNTED = 8;
const MAX_WAIT_MS = 2_500;

const { wrong_codes: OF_NETWORK, wrong_codes_total: IN_ALL } = RATE_LIMITS;
const TOTAL_KEY = 'wrong codes';

// Every open attempt of this browser for the address counts the try, before anything is compared. A network without wrong codes of
// its own is never refused: otherwise strangers could switch codes off for everybody. $4 key of the network, $5 its limit, $6 the
// limit in all.
const tryCode = (browserOrId: 'browser' | 'id') => `
with refused as materialized (
  select greatest(1, ceil(extract(epoch from n.resets_at - now())))::integer as seconds from sign_in_limits n
  where n.key = $4 and n.resets_at > now()
    and (n.hits >= $5 or exists (select from sign_in_limits t where t.key = '${TOTAL_KEY}' and t.resets_at > now() and t.hits >= $6))
),
tried as (
  update sign_in_attempts a set code_tries = code_tries + 1
  where ${browserOrId} = $1 and email = $2 and consumed_at is null and expires_at > now() and code_tries < ${MAX_CODE_TRIES}
    and case when $3::text is null then kind <> 'app' else kind = 'app' and state = $3 and ${clientGoesOn('a')} end
    and not exists (select from refused)
  returning id, kind, browser
)
select id, kind, browser, null::integer as seconds from tried
union all
select null, null, null, seconds from refused`;

// A code that is compared with the codes of several mails is as many guesses. $1 key of the network, $2 number of guesses. The rows
// are locked in one order by every statement.
const COUNT_WRONG = `
insert into sign_in_limits as l (key, hits, resets_at)
select key, hits, now() + make_interval(secs => seconds)
from (values ('${TOTAL_KEY}', $2::integer, ${IN_ALL.duration}), ($1, 1, ${OF_NETWORK.duration})) as wrong (key, hits, seconds) order by key
on conflict (key) do update set
  hits = case when l.resets_at <= now() then excluded.hits else l.hits + excluded.hits end,
  resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
returning key, hits`;

/** @param options.limitFactor multiplies the limits (100 in local mode) */
export function createCodeTries(core: pg.Pool, options: { limitFactor: number; log: Pick<Log, 'error'> }): CodeTries {
  const { limitFactor, log } = options;
  const total = IN_ALL.points * limitFactor;
  const inSlot = createSlots(MAX_UNCOUNTED);
  let wrongCodes = 0;

  const countWrong = async (network: string, guesses: number) => {
    wrongCodes += 1;
    const { rows } = await core.query<{ key: string; hits: number }>({
      name: 'signin-wrong-code',
      text: COUNT_WRONG,
      values: [network, guesses],
    });
    const hits = rows.find(({ key }) => key === TOTAL_KEY)?.hits ?? 0;
    // Of all instances, the one that crosses the limit reports it.
    if (hits >= total && hits - guesses < total)
      log.error({ wrongCodes: hits }, 'sign-in: somebody may be guessing codes; networks with wrong codes of their own need the link');
  };

  return {
    find: ({ by, email, state, clientAddress }, isRight) =>
      inSlot(async () => {
        const network = `${TOTAL_KEY} ${clientAddress}`;
        const [column, value] = 'id' in by ? (['id', by.id] as const) : (['browser', by.browser] as const);
        const { rows } = await core.query<CodeCandidate & { seconds: number | null }>({
          name: `signin-code-${column}`,
          text: tryCode(column),
          values: [value, email, state, network, OF_NETWORK.points * limitFactor, total],
        });
        const [first] = rows;
        if (first && first.seconds !== null)
          throw new Fault('rate_limited', { message: 'Too many wrong codes. Use the link in the email.', retryAfter: first.seconds });
        const right = rows.find(isRight);
        if (!right && rows.length > 0) await countWrong(network, rows.length);
        return right ?? null;
      }),
    wrongCodes: () => wrongCodes,
  };
}

/** Returns a function that runs work, at most `slots` at once and the rest in turn. @throws Fault unavailable after MAX_WAIT_MS */
function createSlots(slots: number) {
  let free = slots;
  const waiting: (() => void)[] = [];
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const begun = performance.now();
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      // By now the caller has an answer: a code must not be used after it.
      if (performance.now() - begun > MAX_WAIT_MS) throw new Fault('unavailable', { retryAfter: 2 });
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
