import type pg from 'pg';
import { ATTEMPT_SECONDS, RATE_LIMITS, RESERVED_MAILS, TOKEN_SECONDS } from '../../contract/limits.ts';
import { batched } from '../db/batch.ts';
import type { Query } from '../db/database.ts';
import type { AttemptKind } from './secrets.ts';
import { OPEN, REFUSAL, REQUEST, USE } from './statements.ts';

/** A request for a mail: one row of `sign_in_attempts`, with the mail that is owed for it. */
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
  /** Registered domain; null for the portal and for OAuth clients. */
  domain: string | null;
  /** The host that the token will be for. */
  host: string | null;
  forwardUrl: string | null;
  clientId: string | null;
  redirectUri: string | null;
  challenge: string | null;
  state: string | null;
  mailKind: string;
  mailData: Record<string, string>;
};

export type Limit = 'address' | 'pair' | 'mailbox';
export type RequestVerdict =
  /** `brand`: what the owed mail holds beside its own data. */
  | { outcome: 'sent'; brand: Record<string, string> | null }
  | { outcome: 'not_registered' | 'recipients_used_up' | 'on_probation' }
  | { outcome: 'limited'; limit: Limit; retryAfter: number };

/** An opening of a link or code: by the browser that began, or by anybody who names the address. */
export type Opening = {
  id: string;
  browser: Buffer | null;
  email: string | null;
  tokenHash: Buffer;
  device: Buffer;
  selector: Buffer;
  verifier: Buffer;
  label: string;
};
export type Opened = { email: string; forwardUrl: string };

/** `host`: the site that asks; null: it does not say. */
export type Verification = { hash: Buffer; host: string | null; idempotencyKey: Buffer | null };
export type Verdict =
  | { valid: true; email: string; host: string }
  | { valid: false; reason: 'used' | 'expired' | 'unknown' | 'other_domain' };

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Asking for a mail and opening a link wait so long for company under load: beside the mail's own way nobody notices. */
const LINGER_MS = 4;

// Statements of several processes take their rows in one order, and so never wait for each other in a circle.
const byId = (a: Opening, b: Opening) => (a.id < b.id ? -1 : 1);
const byHash = (a: Verification, b: Verification) => a.hash.compare(b.hash);

const { mails_from_network: ADDRESS, mails_to_address: PAIR, mails_to_mailbox: MAILBOX } = RATE_LIMITS;
/** How many mails each limit of the request statement allows; it holds the seconds itself. */
const LIMITS = { address: ADDRESS.points, pair: PAIR.points, mailbox: MAILBOX.points, reserve: RESERVED_MAILS, share: 1 };

/** The statements of the sign-in core: one each, micro-batched under load. Every clock in them is the database's. */
export type SignInStore = {
  /** Counts the limits, then inserts attempt, owed mail and audit row together. */
  request(attempt: NewAttempt): Promise<RequestVerdict>;
  /** The same in one transaction with what comes first; when that fails, or no mail is owed, nothing of both remains. */
  requestAfter(first: (query: Query) => Promise<unknown>, attempt: NewAttempt): Promise<RequestVerdict>;
  /** Consumes a link: ends the attempt and its siblings, inserts the token and the remembered key. */
  open(opening: Opening): Promise<Opened | null>;
  /** Uses a site's token up, unless it is for another site. */
  verify(verification: Verification): Promise<Verdict>;
};

/**
 * @param limitFactor multiplies the limits of protocol.md
 * @param mailLeaseSeconds how long the process that took the request has for the mail, before others may take it over
 */
export function createSignInStore(core: pg.Pool, options: { limitFactor: number; mailLeaseSeconds: number }): SignInStore {
  const { limitFactor, mailLeaseSeconds } = options;

  const requestAll = async (on: Queryable, rows: NewAttempt[], alone: boolean): Promise<RequestVerdict[]> => {
    const column = <Key extends keyof NewAttempt>(key: Key) => rows.map((row) => row[key]);
    const { rows: answers } = await on.query<{ verdict: string; retry_after: number; brand: Record<string, string> | null }>({
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
        rows.map((row) => JSON.stringify(row.mailData)),
        LIMITS.address * limitFactor,
        LIMITS.pair * limitFactor,
        LIMITS.mailbox * limitFactor,
        ATTEMPT_SECONDS,
        mailLeaseSeconds,
        alone,
        LIMITS.reserve * limitFactor,
        LIMITS.share * limitFactor,
      ],
    });
    return answers.map(({ verdict, retry_after, brand }) => {
      if (verdict === 'sent') return { outcome: verdict, brand };
      if (verdict === 'not_registered' || verdict === 'recipients_used_up' || verdict === 'on_probation') return { outcome: verdict };
      return { outcome: 'limited', limit: verdict as Limit, retryAfter: retry_after };
    });
  };
  const request = batched<NewAttempt, RequestVerdict>((rows) => requestAll(core, rows, false), { lingerMs: LINGER_MS });

  const requestAfter = async (
    first: (query: Query) => Promise<unknown>,
    row: NewAttempt,
    onRefusal: 'commit' | 'rollback' = 'rollback',
  ): Promise<RequestVerdict> => {
    const client = await core.connect();
    try {
      await client.query('begin');
      await first((text, values) => client.query(text, values));
      const [verdict] = await requestAll(client, [row], true);
      await client.query(verdict.outcome === 'sent' ? 'commit' : onRefusal);
      client.release();
      return verdict;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  };
  // The lock comes in a statement of its own, so that the next one sees what the last holder did. A refusal counts like any other.
  const lockSite = (row: NewAttempt) => (query: Query) => query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [row.domain]);

  const open = batched<Opening, Opened | null>(
    async (rows) => {
      const { rows: winners } = await core.query<{ n: number; email: string; forward_url: string }>({
        name: 'signin-open',
        text: OPEN,
        values: [
          rows.map((row) => row.id),
          rows.map((row) => row.browser),
          rows.map((row) => row.email),
          rows.map((row) => row.tokenHash),
          rows.map((row) => row.device),
          rows.map((row) => row.selector),
          rows.map((row) => row.verifier),
          TOKEN_SECONDS,
          ATTEMPT_SECONDS,
          rows.map((row) => row.label),
        ],
      });
      const opened: (Opened | null)[] = rows.map(() => null);
      for (const { n, email, forward_url } of winners) opened[n - 1] = { email, forwardUrl: forward_url };
      return opened;
    },
    { order: byId, lingerMs: LINGER_MS },
  );

  const columns = (rows: Verification[]) => [
    rows.map((row) => row.hash),
    rows.map((row) => row.host),
    rows.map((row) => row.idempotencyKey),
  ];
  const use = batched<Verification, Verdict | null>(
    async (rows) => {
      const { rows: winners } = await core.query<{ n: number; email: string; host: string }>({
        name: 'signin-use',
        text: USE,
        values: columns(rows),
      });
      const used: (Verdict | null)[] = rows.map(() => null);
      for (const { n, email, host } of winners) used[n - 1] = { valid: true, email, host };
      return used;
    },
    { order: byHash },
  );
  const refusal = batched<Verification, Verdict>(async (rows) => {
    const { rows: answers } = await core.query<{
      email: string | null;
      host: string;
      reason: 'used' | 'expired' | 'unknown' | 'other_domain';
    }>({ name: 'signin-refusal', text: REFUSAL, values: columns(rows) });
    return answers.map(({ email, host, reason }) => (email === null ? { valid: false, reason } : { valid: true, email, host }));
  });

  return {
    request: async (attempt) => {
      const verdict = await request(attempt);
      return verdict.outcome === 'on_probation' ? requestAfter(lockSite(attempt), attempt, 'commit') : verdict;
    },
    requestAfter,
    open,
    verify: async (verification) => (await use(verification)) ?? refusal(verification),
  };
}
