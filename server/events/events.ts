import { Fault } from '../../contract/errors.ts';
import { MAX_EVENT_WAIT_SECONDS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { normalDomain } from '../../contract/rules.ts';
import { isApplicationId } from '../applications/applications.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { LOCALHOST } from '../websites/domains.ts';
import { EventFeed } from './feed.ts';
import { type Merged, mergeSources } from './merge.ts';
import { presentEvents } from './presentation.ts';
import { EventStore, type Position } from './store.ts';

type Page = Output<'websiteEvents'>;

/** How long a call may take besides its wait. */
const MAX_READ_SECONDS = 5;

type Parts = { config: Pick<Config, 'mode'>; database: Pick<Database, 'core'> };

/** What happened in the sign-ins at an account's websites and applications: rows of the audit log, and of `website_events`. */
export class WebsiteEvents {
  readonly #isLocal: boolean;
  readonly #store: EventStore;
  readonly #feed: EventFeed;

  constructor({ config, database }: Parts) {
    this.#isLocal = config.mode === 'local';
    this.#store = new EventStore(database.core);
    this.#feed = new EventFeed(this.#store);
  }

  /**
   * Returns the next events of the account's websites and applications, oldest first, each from the time when the website became the
   * account's. In local mode, localhost belongs to every account.
   * @throws Fault website_not_found
   */
  async read({ id, email }: Account, { domain, after, since, wait }: Parsed<'websiteEvents'>): Promise<Page> {
    const owner = { id, email, localhost: this.#isLocal };
    const domains = await this.#store.domainsOf(owner, domain === undefined ? null : domainOf(domain));
    if (domain !== undefined && domains.length === 0) throw new Fault('website_not_found', { field: 'domain' });
    const end = Date.now() + wait * 1000;
    let from = after === undefined ? await this.#store.startOf(since) : positionOf(after);
    for (;;) {
      const upTo = await this.#feed.position();
      if (upTo === null) return this.#present({ rows: [], end: from, more: false });
      const merged = mergeSources(await this.#store.read(owner, domains, from, upTo), from);
      from = atMost(merged.end, upTo);
      const isOver = merged.rows.length > 0 || merged.more || Date.now() >= end;
      if (isOver || !(await this.#feed.wait(id, domains, from, end - Date.now()))) return this.#present({ ...merged, end: from });
    }
  }

  /** Ends all waiting calls, and lets no other one wait. */
  stop(): void {
    this.#feed.stop();
  }

  #present({ rows, end, more }: Merged): Page {
    return { events: presentEvents(rows, { isLocal: this.#isLocal }), cursor: `${end.audit}.${end.event}`, more };
  }
}

function domainOf(text: string): string {
  if (isApplicationId(text)) return text;
  const host = text.trim().toLowerCase();
  return host === LOCALHOST ? host : (normalDomain(host) ?? '');
}

function positionOf(cursor: string): Position {
  const [audit, event] = cursor.split('.').map(Number);
  return { audit, event };
}

/** Returns a position that does not exceed the newest one: after a restore, the numbers of new rows are smaller than old cursors. */
const atMost = (a: Position, b: Position): Position => ({ audit: Math.min(a.audit, b.audit), event: Math.min(a.event, b.event) });

export function eventRoutes(events: WebsiteEvents): Served[] {
  const options = { timeoutSeconds: MAX_EVENT_WAIT_SECONDS + MAX_READ_SECONDS };
  return [serve('websiteEvents', (input, { account }) => events.read(account, input), options)];
}
