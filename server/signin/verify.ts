import type { Output } from '../../contract/calls.ts';
import { TOKEN_SECONDS } from '../../contract/limits.ts';
import type { Method } from '../../contract/methods.ts';
import { isLoopbackRedirectHost, normalHost } from '../../contract/urls.ts';
import type { EventSink } from '../activity/recorder.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { batched } from '../platform/db/batch.ts';
import type { Database } from '../platform/db/database.ts';
import { methodOf } from '../platform/db/method-rows.ts';
import { type Caller, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Limits } from '../platform/http/limits.ts';
import { tokenVerifications } from '../platform/metrics/metrics.ts';
import { digest } from '../platform/secrets.ts';
import { audienceOf, registrableOf } from '../websites/domains.ts';
import { managedBy } from '../websites/managers.ts';
import { sameRegistration } from './attempt-conditions.ts';

/** `host`: the host of the calling website; null when it is not given. */
type Verification = { hash: Buffer; host: string | null; idempotencyKey: Buffer | null };
type Refused = {
  valid: false;
  reason: 'used' | 'expired' | 'unknown' | 'other_domain';
  /** The website that the token is for, the sign-in, and its visitor, unless the registration has changed since; null for a token that is not known. */
  issuedFor: { domain: string; email: string | null; signIn: string | null } | null;
};
type Valid = { valid: true; email: string; host: string; method: Method; at: string };
type Result = Valid | Refused;

const SAME_REGISTRATION = sameRegistration('t.domain', `t.expires_at - interval '${TOKEN_SECONDS} seconds'`);

/** When the visitor proved the address: at the sign-in, or before it. */
const PROVEN_AT = `coalesce(t.proven_at, t.expires_at - interval '${TOKEN_SECONDS} seconds')`;

/** PROVEN_AT as a response has it, written by PostgreSQL: no session setting can make it unreadable once the token is used up. */
const AT = `to_char(${PROVEN_AT} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Uses up tokens. One array per column: $1 hashes, $2 hosts of the calling websites (null: not given), $3 hashed Idempotency-Keys.
 * A token that is valid expires within TOKEN_SECONDS, so only the one or two partitions of that time are searched.
 */
const USE = `
with used as (
  update tokens t set used_at = now(), idempotency_key = g.idempotency_key
  from unnest($1::bytea[], $2::text[], $3::bytea[]) with ordinality as g (hash, host, idempotency_key, n)
  where t.hash = g.hash and t.hash = any($1) and t.used_at is null and t.expires_at > now() and t.expires_at <= now() + interval '${TOKEN_SECONDS} seconds' and t.audience = coalesce(g.host, t.audience)
    and ${SAME_REGISTRATION}
  returning g.n, t.email, t.domain, t.audience as host, t.method, t.sign_in, ${AT} as at
),
audit as (
  ${addActivity({ action: "'token_verified'", email: 'email', domain: 'used.domain', method: 'method', signIn: 'sign_in' }, 'used')}
)
select n::integer, email, host, method, at from used`;

/**
 * Returns the result for a token that USE did not use up, with the same parameters and after it: a concurrent call that used the token has
 * committed by then. Within 60 s the same Idempotency-Key gets the first result again; any other call, the reason of its refusal.
 */
const RESULT = `
select t.audience as host, t.domain, t.method, t.sign_in as "signIn", ${AT} as at, case when ${SAME_REGISTRATION} then t.email end as visitor,
  case when t.idempotency_key = g.idempotency_key and t.used_at > now() - interval '60 seconds' and t.audience = coalesce(g.host, t.audience)
    then t.email end as email,
  case
    when t.hash is null or t.audience is null then 'unknown'
    when t.audience <> g.host then 'other_domain'
    when t.used_at is null and t.expires_at <= now() then 'expired'
    when t.used_at is null and (${SAME_REGISTRATION}) is not true then 'unknown'
    else 'used' end as reason
from unnest($1::bytea[], $2::text[], $3::bytea[]) with ordinality as g (hash, host, idempotency_key, n)
left join tokens t on t.hash = g.hash
order by g.n`;

const MANAGES_WEBSITE_OF_TOKEN = `
select coalesce(${managedBy('w', '$2')}, false) as manages
from tokens t left join websites w on w.domain = t.domain where t.hash = $1 and t.domain is not null`;

const VALID = tokenVerifications.with('valid');

type Parts = {
  core: Database['core'];
  limits: Limits;
  events: EventSink;
  /** Returns the owner of the API key in an Authorization header, undefined when it holds none. @throws Fault bad_api_key, test_key */
  keyOwnerOf(authorization: string): Promise<string | undefined>;
};

/** The verification of tokens by websites. */
export class TokenVerifier {
  readonly #parts: Parts;
  readonly #use: (verification: Verification) => Promise<Result | null>;
  readonly #resultOf: (verification: Verification) => Promise<Result>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#use = batched('signin-use', (verifications) => useAll(parts.core, verifications), { order: byHash });
    this.#resultOf = batched('signin-token-result', (verifications) => resultsOf(parts.core, verifications));
  }

  /**
   * Returns whom a token identifies, once. A token for another website than `domain`, or for one that the owner of the
   * caller's API key does not manage, is refused and stays valid.
   * @throws Fault rate_limited, bad_api_key, test_key
   */
  async verify(
    { token, domain }: { token: string; domain?: string },
    { clientAddress, header }: Pick<Caller, 'clientAddress' | 'header'>,
  ): Promise<Output<'verifyToken'>> {
    const { limits, keyOwnerOf } = this.#parts;
    const authorization = header('authorization');
    const owner = authorization === undefined ? undefined : await keyOwnerOf(authorization);
    const result = await this.#verify(token, domain, header('idempotency-key'), owner);
    if (result.valid) {
      VALID.value += 1;
      const { email, host, method, at } = result;
      return { email, valid: true, domain: host, method, at };
    }
    tokenVerifications.count(result.reason);
    const recorded = this.#recordRefusal(result, domain);
    // Only failures are limited: bad tokens that one visitor sends through a website must not stop its other visitors.
    limits.refuseBlocked('failed_verify', clientAddress);
    await Promise.all([limits.hit('failed_verify', clientAddress), recorded]);
    return { email: null, valid: false, reason: result.reason };
  }

  async #verify(token: string, domain: string | undefined, idempotencyKey: string | undefined, owner: string | undefined): Promise<Result> {
    const hash = digest(token);
    if (owner !== undefined) {
      const manages = await this.#managesWebsite(owner, hash);
      if (!manages) return { valid: false, reason: manages === null ? 'unknown' : 'other_domain', issuedFor: null };
    }
    const verification: Verification = {
      hash,
      host: domain === undefined ? null : audienceOfCaller(domain),
      idempotencyKey: idempotencyKey === undefined ? null : digest(idempotencyKey),
    };
    return (await this.#use(verification)) ?? this.#resultOf(verification);
  }

  /**
   * Adds an event for the website that verified a token: the one that it names, else the one that the token is for. The address is
   * recorded only for the latter's owner.
   */
  async #recordRefusal({ reason, issuedFor }: Refused, host: string | undefined): Promise<void> {
    const domain = host === undefined ? issuedFor?.domain : registrableOf(audienceOfCaller(host));
    if (!domain) return;
    await this.#parts.events.record({
      domain,
      kind: 'token_refused',
      reason,
      ...(domain === issuedFor?.domain && issuedFor),
    });
  }

  /** Returns whether an address manages the website that a token is for, without using it; null when it is not a token of a website. */
  async #managesWebsite(email: string, hash: Buffer): Promise<boolean | null> {
    const { rows } = await this.#parts.core.query<{ manages: boolean }>({
      name: 'signin-token-manager',
      text: MANAGES_WEBSITE_OF_TOKEN,
      values: [hash, email],
    });
    return rows[0]?.manages ?? null;
  }
}

/** Returns the audience of a host name; an empty text, which no token is for, when it is not a host name. */
function audienceOfCaller(domain: string): string {
  const name = domain.toLowerCase();
  return audienceOf(isLoopbackRedirectHost(name) ? name : (normalHost(name) ?? ''));
}

// Statements of several processes lock their rows in one order, so that they never deadlock.
const byHash = (a: Verification, b: Verification) => a.hash.compare(b.hash);

const columnsOf = (verifications: Verification[]) => [
  verifications.map(({ hash }) => hash),
  verifications.map(({ host }) => host),
  verifications.map(({ idempotencyKey }) => idempotencyKey),
];

async function useAll(core: Database['core'], verifications: Verification[]): Promise<(Result | null)[]> {
  type Row = { n: number; email: string; host: string; method: string; at: string };
  const { rows } = await core.query<Row>({ name: 'signin-use', text: USE, values: columnsOf(verifications) });
  const used: (Result | null)[] = verifications.map(() => null);
  for (const { n, email, host, method, at } of rows) used[n - 1] = { valid: true, email, host, method: methodOf(method), at };
  return used;
}

async function resultsOf(core: Database['core'], verifications: Verification[]): Promise<Result[]> {
  type Row = {
    email: string | null;
    host: string;
    method: string;
    at: string;
    domain: string | null;
    signIn: string | null;
    visitor: string | null;
    reason: Refused['reason'];
  };
  const { rows } = await core.query<Row>({ name: 'signin-token-result', text: RESULT, values: columnsOf(verifications) });
  return rows.map(({ email, host, method, at, domain, signIn, visitor, reason }) =>
    email === null
      ? { valid: false, reason, issuedFor: domain === null ? null : { domain, email: visitor, signIn } }
      : { valid: true, email, host, method: methodOf(method), at },
  );
}

/** Binds the calls of websites. */
export function verifyEndpoints(verifier: TokenVerifier): Endpoint[] {
  return [
    handle('verifyToken', (input, caller) => verifier.verify(input, caller)),
    handle('verifyTokenByPost', (input, caller) => verifier.verify(input, caller)),
  ];
}
