import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { mailDeliverySeconds, mailHandoverSeconds, outboxMails, outboxOldestSeconds } from '../platform/metrics/metrics.ts';
import type { Mail, MailSecrets, SendResult } from './mail.ts';
import { requestedAtOf } from './mail.ts';
import type { Mailer } from './mailer.ts';
import { Breaker, type Failure } from './pool.ts';
import { type OutboxDepth, OutboxStore, type PendingEmail, POSTPONE_SECONDS } from './store.ts';

/** How long an email waits in this process for a connection. */
const WAIT_MS = 10_000;
/**
 * When a lease is renewed, as long as the email waits here or at the mail server: early enough for two more tries, so that two
 * processes never hold an email at once.
 */
const RENEWAL_AGE_MS = 10_000;
const RENEWAL_MS = 5_000;
const SWEEP_MS = 1_000;
const CLAIM_SIZE = 32;
/**
 * When a stop closes the connections of emails that the mail server has not replied to. The service waits less for a stop (RELEASE_MS of
 * serving.ts), but a reply that arrives while its process is still running counts.
 */
const ABANDON_MS = 8_000;
/** A reason may contain a name that differs from email to email, so only this many are logged. */
const MAX_LOGGED_REASONS = 20;

/** What the senders of emails decide about each of them. */
export type OutboxEvents = {
  /** Returns the link and the code of an email; null for a notice. */
  secretsOf(mail: Mail): MailSecrets | null;
  /** Called once for an email that the mail server permanently refused (5yz), before its row is deleted. */
  onRefused(mail: Mail): Promise<void>;
  /** Called for an email that has to wait, with the reason that `delayOf` returns. Never rejects. */
  onDelayed(mail: Mail, reason: string): Promise<void>;
};

type Parts = OutboxEvents & {
  core: Database['core'];
  mailer: Mailer;
  log: Log;
  /** Multiplies the rate limits. */
  limitFactor: number;
};

/** Since when emails cannot be sent, and why, in words that everyone may read. */
type FailingMail = { since: Date; reason: string };

const FAILURES: Readonly<Record<Failure, string>> = {
  unreachable: 'the mail server cannot be reached',
  login: 'the mail server does not accept the user name and password of SMTP_URL',
};

/** Sends every pending email: at once by `handOver`, and what remains by a sweep that all instances share. */
export class Outbox {
  readonly #parts: Parts;
  readonly #store: OutboxStore;
  readonly #breaker = new Breaker();
  /** When the leases of the emails that this process holds began, on the clock of performance.now(), by id. */
  readonly #leases = new Map<string, number>();
  /** Emails that are being sent, or whose result is being written to the database. */
  readonly #active = new Set<Promise<void>>();
  /** Emails that were sent and whose rows could not be deleted yet: never to be sent again. */
  readonly #sent = new Set<string>();
  /** Reasons of failures that are in the log already. */
  readonly #loggedReasons = new Set<string>();
  #stopping = false;
  #sweeping: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #renewing: NodeJS.Timeout | null = null;
  #failing: FailingMail | null = null;
  #databaseDown = false;
  #depth: Promise<OutboxDepth> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = new OutboxStore(parts.core, parts.limitFactor);
  }

  /** Begins to send an email whose row is in the table with a lease of LEASE_SECONDS. Returns at once and never throws. */
  handOver(mail: Mail): void {
    if (!this.#stopping && this.#breaker.admits()) this.#deliver(mail, performance.now() + WAIT_MS);
    else this.#track(this.#postpone(mail.id));
  }

  /** Starts the sweep. */
  start(): void {
    this.#scheduleSweep(0);
    this.#renewing = setInterval(() => this.#renewLeases(), RENEWAL_MS).unref();
    outboxMails.readBy(async () => [{ value: (await this.depth()).mails }]);
    outboxOldestSeconds.readBy(async () => [{ value: (await this.depth()).oldestSeconds }]);
  }

  /** Prepares the email that most visitors get. Returns at once and never throws. */
  prepare(): void {
    this.#parts.mailer.prepare().catch((error) => this.#logFailure(String(error)));
  }

  /**
   * Finishes the emails being sent, and leaves the rest to the other instances. A stop of the service does not wait for all of it
   * (serving.ts). An email that waits for the reply of the mail server is theirs when its lease ends: it may then arrive twice, with the
   * same Message-ID.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#timer) clearTimeout(this.#timer);
    const finish = async () => {
      await this.#sweeping;
      await this.#parts.mailer.close();
      await Promise.all(this.#active);
    };
    const finished = new AbortController();
    await Promise.race([finish().finally(() => finished.abort()), sleep(ABANDON_MS, undefined, finished).catch(() => {})]);
    if (this.#renewing) clearInterval(this.#renewing);
    this.#parts.mailer.abandon();
  }

  /** Returns the number of pending emails of all instances, and the age of the oldest one. Concurrent calls share a query. */
  depth(): Promise<OutboxDepth> {
    this.#depth ??= this.#store.depth().finally(() => {
      this.#depth = null;
    });
    return this.#depth;
  }

  /**
   * Returns whether emails are sent: the mail server replies, and no email has waited untried for a minute. Without the database
   * the former decides.
   */
  async isDelivering(): Promise<boolean> {
    const [found, overdue] = await Promise.all([this.#findFailure(), this.#store.overdue().catch(() => false)]);
    if (found || this.#breaker.isOpen()) return false;
    this.#failing = overdue ? (this.#failing ?? { since: new Date(), reason: 'an email has waited for more than a minute' }) : null;
    return !overdue;
  }

  /** Returns since when this process has been unable to send emails, and why; null while it sends them. */
  failing(): FailingMail | null {
    return this.#failing;
  }

  /** Tries the mail server without an email. While none can be sent, it does so when the breaker admits it, and with a login. */
  async #findFailure(): Promise<boolean> {
    const login = this.#breaker.isOpen();
    if (!this.#breaker.admits()) return true;
    const found = await this.#parts.mailer.failure(login);
    // An email waits longer for a slow server than this did, so only emails open the breaker.
    if (found && login) this.#recordFailure(found.failure, found.reason);
    else if (found) this.#failing ??= { since: new Date(), reason: FAILURES[found.failure] };
    else if (login) this.#recordRecovery();
    return found !== null;
  }

  #recordFailure(failure: Failure, reason: string, request?: string): void {
    if (!this.#breaker.open(failure)) return;
    this.#failing = { since: this.#failing?.since ?? new Date(), reason: FAILURES[failure] };
    this.#parts.log.error({ request, reason }, `mail: ${FAILURES[failure]}; emails wait`);
  }

  #recordRecovery(): void {
    this.#failing = null;
    if (!this.#breaker.close()) return;
    this.#parts.log.info('mail: the mail server is back');
    this.#scheduleSweep(0);
  }

  /**
   * Returns a page of the pending emails, newest first.
   * @param before the id of the last one of the previous page
   * @param q only those whose recipient or kind contains this text
   */
  pending(max: number, before?: string, q = ''): Promise<PendingEmail[]> {
    return this.#store.pending(max, before, q);
  }

  /**
   * Sends a pending email now instead of when it is due. One that a process may be sending, or that is due within LEASE_SECONDS
   * anyway, keeps its time, so that it is not sent twice.
   * @returns false when it is not pending
   */
  async retry(id: string): Promise<boolean> {
    const isPending = await this.#store.retryNow(id);
    if (isPending) this.#scheduleSweep(0);
    return isPending;
  }

  #track(work: Promise<void>): void {
    this.#active.add(work);
    work.finally(() => this.#active.delete(work));
  }

  #deliver(mail: Mail, startBy: number): void {
    const work = async () => {
      let admitted = false;
      const queried = await this.#tryStatement(async () => {
        admitted = await this.#store.admit(mail);
      });
      // When the database does not respond, the lease of the row simply runs out.
      const result = queried && admitted ? await this.#send(mail, startBy) : null;
      this.#leases.delete(mail.id);
      if (result) await this.#record(mail, result);
      else this.#breaker.releaseProbe();
    };
    this.#leases.set(mail.id, startBy - WAIT_MS);
    this.#track(work());
  }

  /** Renews the leases of the emails that take long. Other processes take over those of a process that has ended. */
  #renewLeases(): void {
    const now = performance.now();
    for (const [id, since] of this.#leases) {
      if (now - since < RENEWAL_AGE_MS) continue;
      void this.#tryStatement(async () => {
        await this.#store.renew(id);
        if (this.#leases.has(id)) this.#leases.set(id, now);
      });
    }
  }

  async #send(mail: Mail, startBy: number): Promise<SendResult> {
    const start = performance.now();
    const result = await this.#sendBy(mail, startBy);
    mailHandoverSeconds.with(resultName(result)).observe((performance.now() - start) / 1000);
    const requestedAt = requestedAtOf(mail.id);
    if (result === 'sent' && requestedAt !== null)
      mailDeliverySeconds.with(mail.kind).observe(Math.max(0, Date.now() - requestedAt) / 1000);
    return result;
  }

  async #sendBy(mail: Mail, startBy: number): Promise<SendResult> {
    try {
      return await this.#parts.mailer.send(mail, this.#parts.secretsOf(mail), startBy);
    } catch (error) {
      return { failed: String(error) };
    }
  }

  async #record(mail: Mail, result: SendResult): Promise<void> {
    const { log, onRefused } = this.#parts;
    if (result === 'not_tried') return this.#postpone(mail.id);
    if (typeof result === 'object' && 'failed' in result) {
      this.#logFailure(result.failed, mail.requestId);
      await this.#tryStatement(() => this.#store.retryLater({ id: mail.id, unconfirmed: false }));
      return;
    }
    if (typeof result === 'object' && 'temporary' in result) void this.#parts.onDelayed(mail, delayOf(result));
    if (typeof result === 'object' && 'temporary' in result && result.connection) {
      this.#recordFailure(result.login ? 'login' : 'unreachable', result.temporary, mail.requestId);
      return this.#postpone(mail.id);
    }
    // Only a reply shows that the mail server is back.
    if (typeof result === 'object' && 'refused' in result && result.local) this.#breaker.releaseProbe();
    else this.#recordRecovery();
    if (result === 'sent') return this.#remove(mail.id, null);
    if ('refused' in result) {
      log.warn({ request: mail.requestId, mail: mail.id, kind: mail.kind, reason: result.refused }, 'mail: permanently refused');
      return (await this.#tryStatement(() => onRefused(mail))) ? this.#remove(mail.id, replyCodeOf(result.refused)) : undefined;
    }
    log.debug(
      { request: mail.requestId, mail: mail.id, kind: mail.kind, reason: result.temporary },
      'mail: temporarily refused, to be tried again',
    );
    await this.#tryStatement(() => this.#store.retryLater({ id: mail.id, unconfirmed: result.unconfirmed ?? false }));
  }

  #logFailure(reason: string, request?: string): void {
    if (this.#loggedReasons.has(reason) || this.#loggedReasons.size >= MAX_LOGGED_REASONS) return;
    this.#loggedReasons.add(reason);
    this.#parts.log.error({ request, reason }, 'mail: an email could not be composed; such emails are tried again until they expire');
  }

  async #postpone(id: string): Promise<void> {
    await this.#tryStatement(() => this.#store.postpone({ id, seconds: this.#stopping ? 0 : POSTPONE_SECONDS }));
  }

  async #remove(id: string, refusal: string | null): Promise<void> {
    this.#sent.add(id);
    for (let waitMs = 100; !(await this.#tryStatement(() => this.#store.remove({ id, refusal }))); waitMs = Math.min(2 * waitMs, 1_000)) {
      if (this.#stopping) return;
      await sleep(waitMs, undefined, { ref: false });
    }
    this.#sent.delete(id);
  }

  /** Runs a statement about an email. Returns false when the database fails; then the lease of the row simply runs out. */
  async #tryStatement(run: () => Promise<void>): Promise<boolean> {
    try {
      await run();
      return true;
    } catch (error) {
      if (!this.#databaseDown) this.#parts.log.warn({ error: String(error) }, 'mail: a statement about an email failed');
      this.#databaseDown = true;
      return false;
    }
  }

  async #sweep(): Promise<void> {
    const { log, mailer } = this.#parts;
    while (!this.#stopping && this.#breaker.admits()) {
      const probing = this.#breaker.isOpen();
      // The lease may begin at any moment after this one, so the wait is counted from here.
      const startBy = performance.now() + WAIT_MS;
      const { mails, expired } = await this.#store.claim(probing ? 1 : CLAIM_SIZE);
      this.#databaseDown = false;
      if (expired > 0) log.warn({ mails: expired }, 'mail: emails expired before they could be sent');
      // While the database was away, the lease of an email that this process still sends may have ended.
      for (const mail of mails) if (!this.#sent.has(mail.id) && !this.#leases.has(mail.id)) this.#deliver(mail, startBy);
      if (probing && mails.length === 0) this.#breaker.releaseProbe();
      if (probing || mails.length < CLAIM_SIZE) return;
      while (mailer.waiting() >= CLAIM_SIZE && !this.#stopping) await sleep(20, undefined, { ref: false });
    }
  }

  #scheduleSweep(delayMs: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.#stopping ? null : setTimeout(() => this.#runSweep(), delayMs).unref();
  }

  #runSweep(): void {
    this.#sweeping ??= this.#sweep()
      .catch((error) => {
        if (!this.#databaseDown) this.#parts.log.warn({ error: String(error) }, 'mail: the sweep could not reach the database');
        this.#databaseDown = true;
      })
      .finally(() => {
        this.#sweeping = null;
        this.#scheduleSweep(SWEEP_MS);
      });
  }
}

/** Returns the name of a result in the metrics. */
function resultName(result: SendResult): string {
  if (typeof result === 'string') return result;
  if ('temporary' in result) return result.connection ? 'unreachable' : 'temporary';
  return 'refused' in result ? 'refused' : 'failed';
}

/** Returns why an email has to wait: `connection`, `login`, or the codes of the reply. */
function delayOf(result: Extract<SendResult, { temporary: string }>): string {
  if (result.connection) return result.login ? 'login' : 'connection';
  return replyCodeOf(result.temporary);
}

/** Returns the codes in a reply of a mail server (RFC 5321 §4.2, RFC 3463), such as `550 5.1.1`. Its text could quote the email. */
function replyCodeOf(reply: string): string {
  const [, code, enhanced] = /(?<!\d)([45]\d\d)(?!\d)(?:[ -](\d\.\d{1,3}\.\d{1,3})(?!\d))?/.exec(reply) ?? [];
  return [code ?? 'no reply code', enhanced].filter(Boolean).join(' ');
}
