import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Component, Measured } from './store.ts';

/** @property at on the clock of performance.now(), which nobody sets */
export type Probe = Measured & { at: number; checkedAt: Date };

/** Has this process look every minute whether the service does what it is for, and keeps what it saw. */
export type Probes = {
  start(): void;
  stop(): void;
  /** The latest probe if it is younger than `milliseconds`, else a new one. Never rejects. */
  fresh(milliseconds: number): Promise<Probe>;
};

type Parts = {
  log: Log;
  ping(): Promise<void>;
  /** Whether mails go out. */
  mailsGoOut(): Promise<boolean>;
  /** A request to this service's own address. */
  requestSelf(milliseconds: number): Promise<void>;
  keep(probes: (Measured & { secondsAgo: number })[]): Promise<void>;
  /** Whether the service ends: what fails then is no fault. */
  isStopping(): boolean;
};

const MINUTE_MS = 60_000;
/** So that the first probe costs the start nothing. */
const FIRST_MS = 2_000;
/** An answer that comes later is none. */
const MAX_MS = 2_000;
/** A mail server may greet slowly. */
const MAX_MAIL_MS = 5_000;
/** Minutes that wait in memory while the database is away: a day. */
const MAX_WAITING = 1_440;

export function createProbes({ log, ping, mailsGoOut, requestSelf, keep, isStopping }: Parts): Probes {
  let latest: Probe | null = null;
  let running: Promise<Probe> | null = null;
  let waiting: Probe[] = [];
  let timer: NodeJS.Timeout | null = null;
  /** The faults that the log knows of. */
  let told = '';

  const measure = async (): Promise<Probe> => {
    const at = performance.now();
    const [databaseMs, responseMs, mailMs] = await Promise.all([
      timed(ping(), MAX_MS),
      timed(requestSelf(MAX_MS), MAX_MS),
      timed(
        mailsGoOut().then((good) => good || Promise.reject(new Error('No mail goes out'))),
        MAX_MAIL_MS,
      ),
    ]);
    const results: [Component, number | null][] = [
      ['database', databaseMs],
      ['mail', mailMs],
      ['response', responseMs],
    ];
    const failed = results.filter(([, milliseconds]) => milliseconds === null).map(([component]) => component);
    return { at, checkedAt: new Date(), databaseMs, responseMs, failed };
  };

  const run = async () => {
    const probe = await measure();
    if (isStopping()) return latest ?? probe;
    latest = probe;
    if (told !== probe.failed.join()) {
      told = probe.failed.join();
      if (told) log.error({ failed: probe.failed }, 'status: a probe failed');
      else log.info('status: every probe is good again');
    }
    waiting = waited(waiting, probe);
    if (probe.databaseMs !== null) await keepWaiting();
    return probe;
  };

  const keepWaiting = async () => {
    const kept = waiting;
    const now = performance.now();
    try {
      await keep(kept.map((probe) => ({ ...probe, secondsAgo: (now - probe.at) / 1000 })));
      waiting = [];
    } catch (error) {
      log.debug({ error: String(error) }, 'status: probes wait for the database');
    }
  };

  const probe = () => {
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  };

  return {
    start() {
      const began = Date.now();
      const again = async () => {
        await probe();
        // Counted from the beginning, so that no minute is ever left out.
        if (timer) timer = setTimeout(again, MINUTE_MS - ((Date.now() - began) % MINUTE_MS)).unref();
      };
      timer = setTimeout(again, FIRST_MS).unref();
    },
    stop() {
      if (timer) clearTimeout(timer);
      timer = null;
    },
    fresh: async (milliseconds) => (latest && performance.now() - latest.at < milliseconds ? latest : probe()),
  };
}

/** Adds a probe to those that wait, one a minute: of two the worse. */
export function waited(probes: Probe[], next: Probe): Probe[] {
  const last = probes.at(-1);
  if (!last || Math.floor(last.at / MINUTE_MS) !== Math.floor(next.at / MINUTE_MS)) return [...probes, next].slice(-MAX_WAITING);
  const worst = (one: number | null, other: number | null) => (one === null || other === null ? (one ?? other) : Math.max(one, other));
  const failed = [...new Set([...last.failed, ...next.failed])];
  const both = { databaseMs: worst(last.databaseMs, next.databaseMs), responseMs: worst(last.responseMs, next.responseMs), failed };
  return [...probes.slice(0, -1), { ...next, ...both }];
}

/** How long it took, or null when it failed or took longer than `most` milliseconds. */
async function timed(work: Promise<unknown>, most: number): Promise<number | null> {
  const begun = performance.now();
  const over = new AbortController();
  const tooLate = sleep(most, false, { ref: false, signal: over.signal }).catch(() => false);
  const good = await Promise.race([
    work.then(
      () => true,
      () => false,
    ),
    tooLate,
  ]);
  over.abort();
  return good ? performance.now() - begun : null;
}
