import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Component, Measured, StatusStore } from './store.ts';

/** @property at on the clock of performance.now(), which nobody can set */
export type Probe = Measured & { at: number; checkedAt: Date };

type Parts = {
  log: Log;
  store: Pick<StatusStore, 'ping' | 'save'>;
  /** Returns whether emails can be sent. */
  isDelivering(): Promise<boolean>;
  /** Returns where the service listens; null while it stops, when failures do not count. */
  ownAddress(): AddressInfo | null;
};

const INTERVAL_MS = 60_000;
/** Delay of the first probe, so that it does not slow down the start. */
const FIRST_DELAY_MS = 2_000;
const TIMEOUT_MS = 2_000;
/** Mail servers may delay their greeting. */
const MAIL_TIMEOUT_MS = 5_000;
/** Probes that are kept in memory while the database is unavailable: one day. */
const MAX_UNSAVED = 1_440;

/** Measures every minute whether the service works, and saves the results. */
export class Probes {
  readonly #parts: Parts;
  #latest: Probe | null = null;
  #running: Promise<Probe> | null = null;
  #unsaved: Probe[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** The failures that were logged last. */
  #loggedFailures = '';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const startedAt = Date.now();
    const repeat = async () => {
      await this.#probe();
      // Scheduled relative to the start, so that no minute is skipped.
      if (this.#timer) this.#timer = setTimeout(repeat, INTERVAL_MS - ((Date.now() - startedAt) % INTERVAL_MS)).unref();
    };
    this.#timer = setTimeout(repeat, FIRST_DELAY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Returns the latest probe if it is younger than `maxAgeMs`, else a new one. Never rejects. */
  async recent(maxAgeMs: number): Promise<Probe> {
    return this.#latest && performance.now() - this.#latest.at < maxAgeMs ? this.#latest : this.#probe();
  }

  #probe(): Promise<Probe> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<Probe> {
    const probe = await this.#measure();
    if (this.#parts.ownAddress() === null) return this.#latest ?? probe;
    this.#latest = probe;
    this.#logFailures(probe.failed);
    this.#unsaved = addUnsaved(this.#unsaved, probe);
    if (probe.databaseMs !== null) await this.#save();
    return probe;
  }

  async #measure(): Promise<Probe> {
    const at = performance.now();
    const address = this.#parts.ownAddress();
    const [databaseMs, responseMs, mailMs] = await Promise.all([
      measureMs(this.#parts.store.ping(), TIMEOUT_MS),
      measureMs(address ? requestSelf(address) : Promise.resolve(), TIMEOUT_MS),
      measureMs(
        this.#parts.isDelivering().then((works) => works || Promise.reject(new Error('Emails cannot be sent'))),
        MAIL_TIMEOUT_MS,
      ),
    ]);
    const results: [Component, number | null][] = [
      ['database', databaseMs],
      ['mail', mailMs],
      ['response', responseMs],
    ];
    const failed = results.filter(([, milliseconds]) => milliseconds === null).map(([component]) => component);
    return { at, checkedAt: new Date(), databaseMs, responseMs, failed };
  }

  #logFailures(failed: Component[]): void {
    if (this.#loggedFailures === failed.join()) return;
    this.#loggedFailures = failed.join();
    if (failed.length > 0) this.#parts.log.error({ failed }, 'status: a probe failed');
    else this.#parts.log.info('status: all probes succeed again');
  }

  async #save(): Promise<void> {
    const now = performance.now();
    try {
      await this.#parts.store.save(this.#unsaved.map((probe) => ({ ...probe, secondsAgo: (now - probe.at) / 1000 })));
      this.#unsaved = [];
    } catch (error) {
      this.#parts.log.debug({ error: String(error) }, 'status: probes are kept until the database is available');
    }
  }
}

/** Returns the unsaved probes with a new one. Two probes of the same minute become one, with the worse values. */
export function addUnsaved(probes: Probe[], next: Probe): Probe[] {
  const last = probes.at(-1);
  if (!last || Math.floor(last.at / INTERVAL_MS) !== Math.floor(next.at / INTERVAL_MS)) return [...probes, next].slice(-MAX_UNSAVED);
  const worse = (one: number | null, other: number | null) => (one === null || other === null ? (one ?? other) : Math.max(one, other));
  const failed = [...new Set([...last.failed, ...next.failed])];
  const both = { databaseMs: worse(last.databaseMs, next.databaseMs), responseMs: worse(last.responseMs, next.responseMs), failed };
  return [...probes.slice(0, -1), { ...next, ...both }];
}

/** Returns how long the work took in milliseconds, or null when it failed or took longer than `timeoutMs`. */
async function measureMs(work: Promise<unknown>, timeoutMs: number): Promise<number | null> {
  const startedAt = performance.now();
  const finished = new AbortController();
  const timer = sleep(timeoutMs, false, { ref: false, signal: finished.signal }).catch(() => false);
  const succeeded = await Promise.race([
    work.then(
      () => true,
      () => false,
    ),
    timer,
  ]);
  finished.abort();
  return succeeded ? performance.now() - startedAt : null;
}

/** Listening addresses that mean every interface, and the loopback address to reach them by. */
const LOOPBACK_OF_ANY: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Requests a page of this service that needs no database, by its listening address, as a visitor would. Resolves at the end of a
 * response with status 200; rejects for any other response, and after TIMEOUT_MS.
 */
function requestSelf({ address, port }: AddressInfo): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: LOOPBACK_OF_ANY[address] ?? address,
        port,
        path: '/api/languages',
        agent: false,
        headers: { Connection: 'close' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      (response) => {
        response.on('error', reject);
        response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`Status ${response.statusCode}`))));
        response.resume();
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}
