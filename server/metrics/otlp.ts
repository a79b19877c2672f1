import {
  context,
  DiagLogLevel,
  diag,
  type HrTime,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
  ValueType,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import type { Log } from '../log.ts';
import type { Counter, Gauge, Histogram, Labels } from './metrics.ts';
import { counters, gauges, histograms, sharedGauges, type TracedRequest, type Tracing } from './metrics.ts';

const SERVICE = 'emailauth';
/** An unreachable receiver is logged this often. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Opens the export of traces and metrics over OTLP (HTTP, protobuf). Endpoint, headers, time-outs, sampler and resource attributes
 * are read by the SDK from the standard environment variables.
 */
export function openOtlp({
  version,
  metricIntervalMs,
  log,
}: {
  version: string;
  metricIntervalMs: number;
  log: Pick<Log, 'warn'>;
}): Tracing {
  logFailures(log);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': SERVICE, 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector, serviceInstanceIdDetector] }));
  const random = new RandomIdGenerator();
  let requestId: string | null = null;
  // The trace id of a request's first span is the request's id.
  const idGenerator = { generateSpanId: random.generateSpanId, generateTraceId: () => requestId ?? random.generateTraceId() };
  const provider = new BasicTracerProvider({
    resource,
    idGenerator,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis: metricIntervalMs,
    exportTimeoutMillis: metricIntervalMs,
    metricProducers: [metricProducer(resource)],
  });
  const meters = new MeterProvider({ resource, readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer = provider.getTracer(SERVICE, version);
  const currentSpan = () => trace.getSpanContext(context.active());

  const startRequest = ({ id, parent, method }: TracedRequest) => {
    const traceFlags = parent?.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const from = parent
      ? trace.setSpanContext(ROOT_CONTEXT, { traceId: id, spanId: parent.spanId, traceFlags, isRemote: true })
      : ROOT_CONTEXT;
    requestId = id;
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, from);
    requestId = null;
    return span;
  };

  return {
    request(request, run) {
      const span = startRequest(request);
      context.with(trace.setSpan(ROOT_CONTEXT, span), run);
      return {
        end: ({ route, status }) => {
          span.updateName(`${request.method} ${route}`);
          span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    current: currentSpan,
    async batch(name, requests, rows, run) {
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': name, 'db.operation.batch.size': rows };
      const [first] = requests;
      const from = first ? trace.setSpanContext(ROOT_CONTEXT, first) : ROOT_CONTEXT;
      const links = requests.map((spanContext) => ({ context: spanContext }));
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, links }, from);
      try {
        return await run();
      } catch (error) {
        // The message of a database error can quote a row.
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    async mail({ kind, requestId }, run, nameOf) {
      // A sweep that a request has started belongs to no request.
      const parent = currentSpan();
      const from = parent && parent.traceId === requestId ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
      const span = tracer.startSpan('mail send', { kind: SpanKind.CLIENT, attributes: { 'emailauth.mail.kind': kind } }, from);
      const result = await run();
      span.setAttribute('emailauth.mail.result', nameOf(result));
      if (nameOf(result) !== 'sent') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      return result;
    },
    async stop() {
      await Promise.allSettled([provider.shutdown(), meters.shutdown()]);
    },
  };
}

function logFailures(log: Pick<Log, 'warn'>): void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const warn = (message: string) => {
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = performance.now();
    log.warn({ reason: message.slice(0, 500) }, 'OpenTelemetry: an export failed or a setting is not valid');
  };
  const ignore = () => {};
  diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
}

/** Returns the metrics of /metrics, without those of Node.js, as the SDK exports them. */
function metricProducer(resource: Resource): MetricProducer {
  const startTime = hrTimeOf(Date.now() - process.uptime() * 1000);
  return {
    async collect() {
      const endTime = hrTimeOf(Date.now());
      const at = (labels: Labels) => ({ startTime, endTime, attributes: { ...labels } });
      const read = await Promise.all([...gauges, ...sharedGauges].map((gauge) => gaugeData(gauge, at)));
      const metrics = [
        ...counters.map((counter) => counterData(counter, at)),
        ...histograms.map((histogram) => histogramData(histogram, at)),
        ...read,
      ];
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'emailauth' }, metrics }] }, errors: [] };
    },
  };
}

type At = (labels: Labels) => { startTime: HrTime; endTime: HrTime; attributes: Record<string, string> };

const baseOf = ({ name, help }: { name: string; help: string }) => ({
  descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
});

function counterData(counter: Counter, at: At): MetricData {
  const dataPoints = counter.points().map(({ labels, value }) => ({ ...at(labels), value }));
  return { ...baseOf(counter), dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

async function gaugeData(gauge: Gauge, at: At): Promise<MetricData> {
  const dataPoints = (await gauge.points()).map(({ labels = {}, value }) => ({ ...at(labels), value }));
  return { ...baseOf(gauge), dataPointType: DataPointType.GAUGE, dataPoints };
}

function histogramData(histogram: Histogram, at: At): MetricData {
  const dataPoints = histogram.points().map(({ labels, counts, sum }) => ({
    ...at(labels),
    value: {
      buckets: { boundaries: [...histogram.bounds], counts: [...counts] },
      sum,
      count: counts.reduce((total, count) => total + count, 0),
    },
  }));
  return { ...baseOf(histogram), dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

const hrTimeOf = (ms: number): HrTime => [Math.trunc(ms / 1000), Math.trunc((ms % 1000) * 1e6)];
