import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** A span as the receiver got it; ids in hexadecimal. */
export type ReceivedSpan = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  attributes: Record<string, string>;
  links: { traceId: string; spanId: string }[];
  error: boolean;
};
export type ReceivedMetric = { name: string; sum: number };

// The fields that the tests read, of opentelemetry-proto 1.x (trace.proto, metrics.proto, common.proto): numbers and types are fixed.
const PROTO = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Link { bytes trace_id = 1; bytes span_id = 2; }
message Status { string message = 2; int32 code = 3; }
message Span { bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15; }
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
message NumberPoint { double as_double = 4; sfixed64 as_int = 6; }
message Numbers { repeated NumberPoint data_points = 1; }
message HistogramPoint { fixed64 count = 4; }
message Histogram { repeated HistogramPoint data_points = 1; }
message Metric { string name = 1; oneof data { Numbers gauge = 5; Numbers sum = 7; Histogram histogram = 9; } }
message ScopeMetrics { repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Metrics { repeated ResourceMetrics resource_metrics = 1; }
`;
const { root } = protobuf.parse(PROTO);
const hex = (bytes: string) => Buffer.from(bytes, 'base64').toString('hex');
// biome-ignore lint/suspicious/noExplicitAny: decoded messages have no types.
type Message = any;
const attributesOf = (pairs: Message[] = []) =>
  Object.fromEntries(
    pairs.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue)]),
  );

/** Starts a receiver of OTLP over HTTP with protobuf, which decodes what it gets. */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = [];
  const resources: Record<string, string>[] = [];
  const metrics = new Map<string, ReceivedMetric>();
  const decode = (type: string, body: Buffer): Message => {
    const message = root.lookupType(type);
    return message.toObject(message.decode(body), { bytes: String, longs: Number });
  };
  const takeTraces = (body: Buffer) => {
    for (const { resource, scopeSpans = [] } of decode('Traces', body).resourceSpans ?? []) {
      resources.push(attributesOf(resource?.attributes));
      for (const span of scopeSpans.flatMap((scope: Message) => scope.spans ?? []))
        spans.push({
          name: span.name,
          kind: span.kind,
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId ?? ''),
          attributes: attributesOf(span.attributes),
          links: (span.links ?? []).map((link: Message) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
          error: span.status?.code === 2,
        });
    }
  };
  const takeMetrics = (body: Buffer) => {
    for (const { scopeMetrics = [] } of decode('Metrics', body).resourceMetrics ?? [])
      for (const { name, gauge, sum, histogram } of scopeMetrics.flatMap((scope: Message) => scope.metrics ?? [])) {
        const points: Message[] = (gauge ?? sum ?? histogram)?.dataPoints ?? [];
        const total = points.reduce((all, { asDouble, asInt, count }) => all + (asDouble ?? asInt ?? count ?? 0), 0);
        metrics.set(name, { name, sum: total });
      }
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (request.headers['content-type'] !== 'application/x-protobuf') response.statusCode = 415;
    else if (request.url === '/v1/traces') takeTraces(body);
    else if (request.url === '/v1/metrics') takeMetrics(body);
    else response.statusCode = 404;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    metrics,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
