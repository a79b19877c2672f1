import type { SpanContext } from '@opentelemetry/api';

/** A request, as a span needs it. */
export type TracedRequest = {
  /** The trace id. */
  id: string;
  /** The span of the caller, of a well-formed `traceparent`. */
  parent: { spanId: string; sampled: boolean } | null;
  method: string;
};

/** What is known when the response has ended. */
export type RequestEnd = { route: string; status: number };

/** Spans of the service. It exists only while traces are exported. */
export type Tracing = {
  /** Runs a request inside a span, which `end` ends. */
  request(request: TracedRequest, run: () => void): { end(end: RequestEnd): void };
  /** Returns the current span. */
  current(): SpanContext | undefined;
  /** Runs a statement that several requests share, in a span of the first one that has a link to each. */
  batch<Result>(name: string, requests: SpanContext[], rows: number, run: () => Promise<Result>): Promise<Result>;
  /** Runs a try to hand an email over. @param requestId of the request that it belongs to, if that is known */
  mail<Result>(mail: { kind: string; requestId?: string }, run: () => Promise<Result>, nameOf: (result: Result) => string): Promise<Result>;
  /** Exports what is left. */
  stop(): Promise<void>;
};

let current: Tracing | null = null;

/** Returns the traces of this process; null while they are off, which costs nothing. */
export const tracing = (): Tracing | null => current;

/** Makes `tracing` return the traces that were opened. */
export function setTracing(opened: Tracing): void {
  current = opened;
}
