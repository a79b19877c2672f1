import { ATTEMPT_SECONDS, TOKEN_SECONDS } from '../../contract/limits.ts';
import { isApplicationId } from '../developers/applications.ts';
import { requestedAtOf } from '../mail/mail.ts';
import { batched } from '../platform/db/batch.ts';
import type { Database } from '../platform/db/database.ts';
import { registrableOf } from '../websites/domains.ts';
import { EventStore, type NewEvent } from './event-store.ts';
import type { EventKind } from './explanations.ts';

/** What one step of a sign-in at a website failed with, or waits for. `signIn`: the id of the sign-in; `mail`: the id of the pending email that it is about. */
type StepEvent = { domain: string; kind: EventKind; reason?: string | null; email?: string | null; signIn?: string | null; mail?: string };

/** What comes later, such as a link that is opened a day after it expired, is no step of the sign-in. */
const MAX_SIGN_IN_MS = (ATTEMPT_SECONDS + TOKEN_SECONDS) * 1000;
const WINDOW_MS = 60_000;
/** Entries of one website, kind and reason in a minute, per process; further ones are summed up in one entry. */
const MAX_ENTRIES = 10;
/** Entries of all websites in a minute, per process, and different sums. What exceeds both is not recorded. */
const MAX_ENTRIES_TOTAL = 600;
const MAX_SUMS = 1_000;

/** Records events of websites. An attacker who causes many of them adds a bounded number of rows. */
export class EventRecorder {
  readonly #insert: (event: NewEvent) => Promise<undefined>;
  /** By website, kind and reason, since the beginning of the minute: how many there were, and how many of them have an entry. */
  readonly #counts = new Map<string, { event: StepEvent; count: number; entries: number }>();
  #entries = 0;
  #window: NodeJS.Timeout | null = null;

  constructor({ core }: Database) {
    const store = new EventStore(core);
    this.#insert = batched('events-insert', async (events: NewEvent[]) => {
      await store.insert(events);
      return events.map(() => undefined);
    });
  }

  /** Records an event; resolves when it is stored. Never rejects: a sign-in does not depend on it. */
  async record(event: StepEvent): Promise<void> {
    if (!this.#admits(event)) return;
    await this.#store(event, 1);
  }

  /** Stores the sums of the current minute. */
  async stop(): Promise<void> {
    if (this.#window) clearTimeout(this.#window);
    await this.#endWindow();
  }

  /** Counts an event. Returns whether it gets an entry of its own. */
  #admits(event: StepEvent): boolean {
    this.#window ??= setTimeout(() => void this.#endWindow(), WINDOW_MS).unref();
    const key = `${event.domain} ${event.kind} ${event.reason ?? ''}`;
    const counted = this.#counts.get(key) ?? { event, count: 0, entries: 0 };
    if (counted.count === 0 && this.#counts.size >= MAX_SUMS) return false;
    this.#counts.set(key, counted);
    counted.count += 1;
    if (counted.entries >= MAX_ENTRIES || this.#entries >= MAX_ENTRIES_TOTAL) return false;
    counted.entries += 1;
    this.#entries += 1;
    return true;
  }

  async #endWindow(): Promise<void> {
    const sums = [...this.#counts.values()].filter(({ count, entries }) => count > entries);
    this.#counts.clear();
    this.#entries = 0;
    this.#window = null;
    await Promise.all(sums.map(({ event, count, entries }) => this.#store({ ...event, email: null, signIn: null }, count - entries)));
  }

  async #store({ domain, kind, reason = null, email = null, signIn, mail }: StepEvent, count: number): Promise<void> {
    const isStep = signIn && Date.now() < (requestedAtOf(signIn) ?? 0) + MAX_SIGN_IN_MS;
    await this.#insert({ domain, kind, reason, email, signIn: isStep ? signIn : null, count, mail: mail ?? null }).catch(() => {});
  }
}

/** Where a sign-in records its events. */
export type EventSink = Pick<EventRecorder, 'record'>;

/**
 * Returns whose event a step of a sign-in is: a registrable domain, or the client ID of an application. A website is a client of OpenID
 * Connect under its origin. Null for the portal and for programs that registered themselves, whose events no one could read.
 */
export function subjectOf({ domain, clientId }: { domain: string | null; clientId: string | null }): string | null {
  if (domain !== null || clientId === null || isApplicationId(clientId)) return domain ?? clientId;
  if (!/^https?:/.test(clientId) || !URL.canParse(clientId)) return null;
  const { origin, hostname } = new URL(clientId);
  return origin === clientId ? registrableOf(hostname) : null;
}
