import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import { MAIL_BLOCK_FACTOR, RESERVED_MAILS } from '../../contract/limits.ts';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import type { Destination } from '../../contract/signin.ts';
import { LEASE_SECONDS } from '../mail/mail.ts';
import { batched } from '../platform/db/batch.ts';
import { DATABASE_WAIT_MS } from '../platform/db/client.ts';
import type { Query } from '../platform/db/database.ts';
import { LOCK_BY_NAME } from '../platform/db/locks.ts';
import type { AttemptKind } from './attempts.ts';
import { GUESSES } from './guesses.ts';
import { REQUEST_EMAILS } from './sql-functions.ts';

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
  /** Where it leads; null for a program or application with PKCE. */
  destination: Destination | null;
  /** Registered domain; null for the portal and for OAuth clients. */
  domain: string | null;
  /** The host that the token will be for; of a registration or invitation, the domain that it is about. */
  audience: string | null;
  clientId: string | null;
  redirectUri: string | null;
  challenge: string | null;
  state: string | null;
  mailKind: string;
  mailData: Record<string, string>;
};

/** The limit of emails that refused a request: of the network, of the network and the mailbox together, or of the mailbox. */
export type Limit = 'network' | 'pair' | 'mailbox';

type RequestResult =
  /** `added`: what the pending email contains besides its own data. */
  | { status: 'sent'; added: Record<string, string> | null }
  | { status: 'not_registered' | 'recipients_used_up' | 'on_probation' }
  | { status: 'limited'; limit: Limit; retryAfter: number };

type Queryable = Pick<pg.ClientBase, 'query'>;

const { mails_to_mailbox_from_network: PAIR, mails_to_mailbox: MAILBOX } = RATE_LIMITS;

/** How many of the reserved emails of a mailbox one network gets in an hour. */
const RESERVED_MAILS_OF_NETWORK = 1;

/**
 * Requests for websites that are not claimed yet that one process runs at once. Each keeps a connection while it waits for the website's
 * lock, and anyone can register a website and send many: the other connections stay for all other requests.
 */
const MAX_ON_PROBATION = 2;

const REQUEST = `select * from ${REQUEST_EMAILS.name}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** The statements that begin an attempt. Every clock in them is the database's. */
export class RequestStore {
  readonly #core: pg.Pool;
  readonly #limitFactor: number;
  readonly #mailsPerNetwork: number;
  readonly #onProbation = new Semaphore(MAX_ON_PROBATION);
  readonly #requestBatched: (attempt: NewAttempt) => Promise<RequestResult>;

  /**
   * @param options.limitFactor multiplies the rate limits
   * @param options.mailsPerNetwork how many emails one network address may request in an hour
   */
  constructor(core: pg.Pool, { limitFactor, mailsPerNetwork }: { limitFactor: number; mailsPerNetwork: number }) {
    this.#core = core;
    this.#limitFactor = limitFactor;
    this.#mailsPerNetwork = mailsPerNetwork;
    this.#requestBatched = batched('signin-request', (attempts) => this.#requestAll(core, attempts, false));
  }

  /** Counts the limits, then inserts attempt, pending email and audit row together. */
  async request(attempt: NewAttempt): Promise<RequestResult> {
    const result = await this.#requestBatched(attempt);
    if (result.status !== 'on_probation') return result;
    // The lock is a statement of its own, so that the next one sees what its last holder did. A refusal is counted like any other.
    return this.#onProbation.run(() =>
      this.requestAfter((query) => query(LOCK_BY_NAME, [`probation ${attempt.domain}`]), attempt, 'commit'),
    );
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
    const limit = (points: number) => points * this.#limitFactor;
    const { rows } = await on.query<{ status: string; retry_after: number; added: Record<string, string> | null }>({
      name: 'signin-request',
      text: REQUEST,
      values: [
        JSON.stringify(attempts.map(toRow)),
        alone,
        LEASE_SECONDS,
        limit(this.#mailsPerNetwork),
        limit(MAIL_BLOCK_FACTOR * this.#mailsPerNetwork),
        limit(PAIR.points),
        limit(MAILBOX.points),
        limit(RESERVED_MAILS),
        limit(RESERVED_MAILS_OF_NETWORK),
        limit(GUESSES.points),
      ],
    });
    return rows.map(({ status, retry_after, added }) => {
      if (status === 'sent') return { status, added };
      if (status === 'not_registered' || status === 'recipients_used_up' || status === 'on_probation') return { status };
      return { status: 'limited', limit: status as Limit, retryAfter: retry_after };
    });
  }
}

/** Returns a request as the function reads it: the names of columns, and bytes in hex. */
function toRow(attempt: NewAttempt) {
  const { browser, device, clientAddress, clientId, redirectUri, mailKind, mailData, requestId, userAgent, ...row } = attempt;
  return {
    ...row,
    browser: browser.toString('hex'),
    device: device?.toString('hex'),
    address: clientAddress,
    client_id: clientId,
    redirect_uri: redirectUri,
    mail_kind: mailKind,
    mail_data: mailData,
  };
}

/** Runs a limited number of tasks at once and the others in turn. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param size how many tasks run at once */
  constructor(size: number) {
    this.#free = size;
  }

  /** @throws Fault unavailable when its turn did not come within DATABASE_WAIT_MS; the caller has got a 503 by then, so the task must not run */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (performance.now() - began > DATABASE_WAIT_MS) throw new Fault('unavailable', { retryAfter: 2 });
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
