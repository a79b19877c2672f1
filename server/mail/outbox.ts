import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import { createBreaker } from './breaker.ts';
import type { Mail, Outcome, Secrets } from './mail.ts';
import type { Mailer } from './mailer.ts';
import { createNoticeLimit } from './notice-store.ts';
import { createOutboxStore, LEASE_SECONDS, type OwedMail } from './store.ts';

export type { Mail } from './mail.ts';

/** Gets every owed mail out: at once by `handOver`, and whatever is left over by a sweep that all instances share. */
export type Outbox = {
  /** Sends a mail whose row is in the table, leased for FIRST_LEASE_SECONDS. Returns at once and never throws. */
  handOver(mail: Mail): void;
  /** Begins to sweep, and has the mailer prepare. */
  start(): void;
  /** Finishes what is being sent, within 8 s, and leaves the rest to the other instances. */
  stop(): Promise<void>;
  /** Mails owed, by all instances. */
  depth(): Promise<number>;
  /** Whether mails go out: the mail server answers, and none waits untried for a minute. Without the database the former decides. */
  goesOut(): Promise<boolean>;
  /** A page of the mails owed, newest first. @param before the id of the last one of the page before */
  owed(most: number, before?: string): Promise<OwedMail[]>;
  /**
   * Sends an owed mail now, instead of when it is due. One that some process may be sending, or that is due within its lease
   * of LEASE_SECONDS anyway, keeps its time, so that nobody gets it twice.
   * @returns false when it is not owed
   */
  retry(id: string): Promise<boolean>;
};

/**
 * How far in the future `due_at` is when the row of a mail is inserted. It must exceed WAIT_MS and the mailer's time-out
 * together, so that no two processes ever hold a mail at once.
 */
export const FIRST_LEASE_SECONDS = LEASE_SECONDS;

/** How long a mail waits in this process for a connection. */
const WAIT_MS = 10_000;
const SWEEP_MS = 1_000;
const CLAIMED_AT_ONCE = 32;
/** Between two probes of a mail server that cannot be reached. */
const PROBE_MS = 5_000;
/** For what could not be tried: until then the server is probably back, or a connection free. */
const POSTPONE_SECONDS = 5;
const STOP_MS = 8_000;
/** A reason may hold a name that differs from mail to mail; beyond so many nobody reads on. */
const MAX_REASONS = 20;

type Parts = {
  database: Pick<Database, 'core'>;
  mailer: Mailer;
  log: Log;
  /** The way in that a mail carries; null for notices. */
  secretsOf(mail: Mail): Secrets | null;
  /** Called once for a mail that the mail server refused for good (5yz), before its row goes. */
  onRefused(mail: Mail): Promise<void>;
  /** Multiplies the limits; 1 unless given. */
  limitFactor?: number;
};

export function createOutbox({ database, mailer, log, secretsOf, onRefused, limitFactor = 1 }: Parts): Outbox {
  const store = createOutboxStore(database.core);
  const noticeLimit = createNoticeLimit(database.core, limitFactor);
  const breaker = createBreaker(PROBE_MS);
  /** What is being sent, or told to the database. */
  const pending = new Set<Promise<void>>();
  /** Sent, but their rows could not be deleted yet: never to be sent again. */
  const sent = new Set<string>();
  /** Why mails could not be made, as the log says it already. */
  const reasons = new Set<string>();
  let stopping = false;
  let sweeping: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let databaseDown = false;

  const track = (work: Promise<void>) => {
    pending.add(work);
    work.finally(() => pending.delete(work));
  };

  const deliver = (mail: Mail, startBy: number) => {
    const work = async () => {
      let admitted = false;
      const asked = await marked(async () => {
        admitted = await noticeLimit.admit(mail);
      });
      // Without an answer of the database the row's lease ends by itself.
      if (asked && admitted) await settle(mail, await send(mail, startBy));
      else breaker.unused();
    };
    track(work());
  };

  const send = async (mail: Mail, startBy: number): Promise<Outcome> => {
    try {
      return await mailer.send(mail, secretsOf(mail), startBy);
    } catch (error) {
      return { failed: String(error) };
    }
  };

  const complain = (reason: string) => {
    if (reasons.has(reason) || reasons.size >= MAX_REASONS) return;
    reasons.add(reason);
    log.error({ reason }, 'mail: a mail cannot be made; such mails wait, and expire if this lasts');
  };

  const settle = async (mail: Mail, outcome: Outcome) => {
    if (outcome === 'not_tried') return putOff(mail.id);
    if (typeof outcome === 'object' && 'failed' in outcome) {
      complain(outcome.failed);
      await marked(() => store.retryLater(mail.id));
      return;
    }
    if (typeof outcome === 'object' && 'temporary' in outcome && outcome.connection) {
      if (breaker.failed()) log.error({ reason: outcome.temporary }, 'mail: the mail server cannot be reached; mails wait');
      return putOff(mail.id);
    }
    if (breaker.answered()) {
      log.info('mail: the mail server is back');
      sweepSoon(0);
    }
    if (outcome === 'sent') return forget(mail.id);
    if ('refused' in outcome) {
      log.warn({ mail: mail.id, kind: mail.kind, reason: outcome.refused }, 'mail: refused for good');
      return (await marked(() => onRefused(mail))) ? forget(mail.id) : undefined;
    }
    log.debug({ mail: mail.id, kind: mail.kind, reason: outcome.temporary }, 'mail: not taken yet, to be tried again');
    await marked(() => store.retryLater(mail.id));
  };

  const putOff = async (id: string) => {
    await marked(() => store.postpone({ id, seconds: stopping ? 0 : POSTPONE_SECONDS }));
  };

  const forget = async (id: string) => {
    sent.add(id);
    for (let wait = 100; !(await marked(() => store.remove(id))); wait = Math.min(2 * wait, 1_000)) {
      if (stopping) return;
      await sleep(wait, undefined, { ref: false });
    }
    sent.delete(id);
  };

  /** Runs a statement about a mail. @returns false when the database cannot: then the row's lease ends by itself */
  const marked = async (mark: () => Promise<void>): Promise<boolean> => {
    try {
      await mark();
      return true;
    } catch (error) {
      if (!databaseDown) log.warn({ error: String(error) }, 'mail: the database could not be asked or told about a mail');
      databaseDown = true;
      return false;
    }
  };

  const sweep = async () => {
    while (!stopping && breaker.admits()) {
      const probing = breaker.isOpen();
      // The lease may begin at any moment after this one, so the wait is counted from here.
      const startBy = performance.now() + WAIT_MS;
      const { mails, expired } = await store.claim(probing ? 1 : CLAIMED_AT_ONCE);
      databaseDown = false;
      if (expired > 0) log.warn({ mails: expired }, 'mail: mails expired before they could be sent');
      for (const mail of mails) if (!sent.has(mail.id)) deliver(mail, startBy);
      if (probing && mails.length === 0) breaker.unused();
      if (probing || mails.length < CLAIMED_AT_ONCE) return;
      while (mailer.waiting() >= CLAIMED_AT_ONCE && !stopping) await sleep(20, undefined, { ref: false });
    }
  };

  const sweepSoon = (milliseconds: number) => {
    if (timer) clearTimeout(timer);
    timer = stopping ? null : setTimeout(runSweep, milliseconds).unref();
  };

  const runSweep = () => {
    sweeping ??= sweep()
      .catch((error) => {
        if (!databaseDown) log.warn({ error: String(error) }, 'mail: the sweep could not reach the database');
        databaseDown = true;
      })
      .finally(() => {
        sweeping = null;
        sweepSoon(SWEEP_MS);
      });
  };

  const handOver = (mail: Mail) => {
    if (!stopping && breaker.admits()) deliver(mail, performance.now() + WAIT_MS);
    else track(putOff(mail.id));
  };

  return {
    handOver,
    start() {
      sweepSoon(0);
      mailer.prepare().catch((error) => complain(String(error)));
    },
    async stop() {
      stopping = true;
      if (timer) clearTimeout(timer);
      const finish = async () => {
        await sweeping;
        await mailer.close();
        await Promise.all(pending);
      };
      const inTime = new AbortController();
      await Promise.race([finish().finally(() => inTime.abort()), sleep(STOP_MS, undefined, inTime).catch(() => {})]);
    },
    depth: () => store.depth(),
    async goesOut() {
      const [reached, overdue] = await Promise.all([mailer.reaches(), store.overdue().catch(() => false)]);
      return reached && !overdue;
    },
    owed: (most, before) => store.owed(most, before),
    async retry(id) {
      const owed = await store.retryNow(id);
      if (owed) sweepSoon(0);
      return owed;
    },
  };
}
