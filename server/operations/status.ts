import { createPublicKey } from 'node:crypto';
import type { Output } from '../../contract/calls.ts';
import { type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Platform } from '../platform/platform.ts';
import { domainOf } from '../platform/sender.ts';
import { type Component, type History, type Probe, type Probes, type StatusStore, valueWithin } from './probes.ts';

type StatusOutput = Output<'status'>;
type State = StatusOutput['state'];

const MAX_AGE_MS = 15_000;
const HISTORY_TIMEOUT_MS = 2_000;
/** Shorter than the timeout of an API call, so that the overview is returned without the uptime rather than not at all. */
const UPTIME_TIMEOUT_MS = 1_000;
/** Minutes that an average needs. */
const MIN_MEASURED = 60;
/** Response times in milliseconds above which a component is degraded. */
const SLOW = { database: 500, response: 1_000 };

// A probe waits up to 5 s for a mail server.
const TIMEOUT_SECONDS = 10;

/** Binds the calls that describe the service and its state. */
export function statusEndpoints(status: Status, platform: Platform): Endpoint[] {
  const about = describeService(platform);
  const { host } = new URL(platform.publicUrl);
  return [
    handle('about', (_, { clientAddress, header }) => ({
      ...about,
      time: new Date().toISOString(),
      request: {
        address: clientAddress,
        forwarded: (header('x-forwarded-for') ?? '').split(',').filter((entry) => entry.trim()).length,
        isHostPublic: header('host') === host,
      },
    })),
    handle('status', () => status.read(), { timeoutSeconds: TIMEOUT_SECONDS }),
  ];
}

/** The state of the service, from the latest probe and the history of all instances. */
export class Status {
  readonly #probes: Probes;
  readonly #store: StatusStore;
  #cached: { until: number; output: Promise<StatusOutput> } | null = null;

  constructor(probes: Probes, store: StatusStore) {
    this.#probes = probes;
    this.#store = store;
  }

  /** Returns the status, at most MAX_AGE_MS old; without history while the database is unavailable. Never rejects. */
  read(): Promise<StatusOutput> {
    const now = performance.now();
    if (!this.#cached || now > this.#cached.until) this.#cached = { until: now + MAX_AGE_MS, output: this.#measure() };
    return this.#cached.output;
  }

  /** Returns the uptime of the last 30 days; null: not enough data yet, or the history cannot be read in time. */
  async uptimePercent(): Promise<number | null> {
    return (await valueWithin(this.read(), UPTIME_TIMEOUT_MS))?.history?.uptimePercent ?? null;
  }

  async #measure(): Promise<StatusOutput> {
    const probe = await this.#probes.recent(MAX_AGE_MS);
    const history = probe.failed.includes('database') ? null : await valueWithin(this.#store.history(), HISTORY_TIMEOUT_MS);
    return { ...stateOf(probe), history: history && summaryOf(history, probe.failed.length > 0) };
  }
}

/** Returns the state of each component and of the service. Without email it is only degraded: remembered accounts can still sign in. */
export function stateOf({ failed, databaseMs, responseMs, checkedAt }: Probe): Omit<StatusOutput, 'history'> {
  const stateOfComponent = (id: Component, slow: boolean) => ({
    id,
    state: failed.includes(id) ? ('down' as const) : slow ? ('degraded' as const) : ('operational' as const),
  });
  const components = [
    stateOfComponent('database', (databaseMs ?? 0) > SLOW.database),
    stateOfComponent('mail', false),
    stateOfComponent('response', (responseMs ?? 0) > SLOW.response),
  ];
  let state: State = 'operational';
  if (components.some((component) => component.state !== 'operational')) state = 'degraded';
  if (components.some((component) => component.state === 'down' && component.id !== 'mail')) state = 'down';
  return { state, checkedAt: checkedAt.toISOString(), components };
}

/**
 * Returns the history with averages.
 * @param failing whether the latest probe failed, in which case a recent incident is ongoing
 */
export function summaryOf({ since, responseMs, days, incidents }: History, failing: boolean): NonNullable<StatusOutput['history']> {
  const measured = days.reduce((sum, day) => sum + day.measured, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const enough = measured >= MIN_MEASURED;
  return {
    since: since?.toISOString() ?? null,
    // Rounded down, so that it is 100 only without any failure.
    uptimePercent: enough ? Math.floor(((measured - failed) / measured) * 10_000) / 100 : null,
    responseMs: enough && responseMs !== null ? Math.round(responseMs * 10) / 10 : null,
    days,
    incidents: incidents.map(({ startedAt, endedAt, components, recent }, index) => ({
      startedAt: startedAt.toISOString(),
      endedAt: failing && recent && index === 0 ? null : endedAt.toISOString(),
      minutes: Math.max(1, Math.round((endedAt.getTime() - startedAt.getTime()) / 60_000)),
      components,
    })),
  };
}

function describeService({ version, config }: Platform): Omit<Output<'about'>, 'time' | 'request'> {
  const { mode, mailFrom, dkim, smtpUrl } = config;
  return {
    name: 'emailauth',
    version,
    mode,
    mail: {
      domain: domainOf(mailFrom),
      dkim: dkim && { domain: dkim.domainName, selector: dkim.keySelector, publicKey: publicKeyOf(dkim.privateKey) },
      delivered: smtpUrl !== null,
    },
  };
}

/** Returns the public key as it is in the DNS record (RFC 6376 §3.6.1): DER in base64. */
function publicKeyOf(privateKey: string): string {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');
}
