import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HistogramSeries } from '../metrics/metrics.ts';
import { requestSeconds, responses } from '../metrics/metrics.ts';

/** What the service keeps about a request until its response has ended. */
export type RequestRecord = { id: string; startedAt: number; times: RouteTimes | null };

/** The response times of one route. */
class RouteTimes {
  readonly #method: string;
  readonly #route: string;
  /** By the first digit of the status; created with the first response, so that /metrics has only those that occur. */
  readonly #series: (HistogramSeries | undefined)[] = [];

  /** @param route a path as the code has it, without any text of the request */
  constructor(method: string, route: string) {
    this.#method = method;
    this.#route = route;
  }

  observe(status: number, seconds: number): void {
    const statusClass = Math.trunc(status / 100);
    const series = this.#series[statusClass] ?? requestSeconds.with(this.#method, this.#route, `${statusClass}xx`);
    this.#series[statusClass] = series;
    series.observe(seconds);
  }
}

const RECORD = Symbol('request record');
type Recorded = IncomingMessage & { [RECORD]?: RequestRecord };

/** Begins to measure a request. */
export function beginRequest(request: IncomingMessage): RequestRecord {
  const id = traceIdOf(request) ?? newRequestId();
  const record = { id, startedAt: performance.now(), times: null };
  (request as Recorded)[RECORD] = record;
  return record;
}

/** Returns the request id of a request: the trace id of its `traceparent`, or a new one of the same form. */
export function requestIdOf(request: IncomingMessage): string {
  return (request as Recorded)[RECORD]?.id ?? newRequestId();
}

/** Returns a random trace id (W3C Trace Context §3.2.2.3). */
export const newRequestId = (): string => randomUUID().replaceAll('-', '');

// §3.2: version 00 has exactly four fields, later ones may have more; ids of zeros are not valid.
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
const VERSION_00_LENGTH = 55;

/** Returns the trace id of a well-formed `traceparent`. */
function traceIdOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  if (typeof traceparent !== 'string' || (traceparent.startsWith('00') && traceparent.length !== VERSION_00_LENGTH)) return;
  return TRACE_PARENT.exec(traceparent)?.[1];
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);
const OTHER = 'other';
const created = new Map<string, RouteTimes>();

/** Returns the times of a method and a route. @param route as of RouteTimes */
export function timesOf(method: string | undefined, route: string): RouteTimes {
  const known = method !== undefined && METHODS.has(method) ? method : OTHER;
  const key = `${known} ${route}`;
  let times = created.get(key);
  if (!times) {
    times = new RouteTimes(known, route);
    created.set(key, times);
  }
  return times;
}

/** Returns the times of the route at which Express handled a request. */
function expressTimesOf(request: IncomingMessage): RouteTimes {
  const { path } = (request as { route?: { path?: unknown } }).route ?? {};
  return timesOf(request.method, typeof path === 'string' ? path : OTHER);
}

/** Counts the responses of every HTTP server in this process, and measures those of requests that `beginRequest` has seen. */
export function observeResponses(): void {
  subscribe('http.server.response.finish', (message) => {
    const { request, response } = message as { request: Recorded; response: ServerResponse };
    const { statusCode } = response;
    responses.count(String(statusCode));
    const record = request[RECORD];
    if (!record) return;
    (record.times ?? expressTimesOf(request)).observe(statusCode, (performance.now() - record.startedAt) / 1000);
  });
}
