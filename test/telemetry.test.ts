import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from './harness.ts';
import { startOtlpReceiver } from './otlp-receiver.ts';
import { freshAddress, registerWebsite } from './sign-ins.ts';
import { waitUntil } from './waiting.ts';

const SERVER = 2;
const CLIENT = 3;

let stage: Stage;
let service: Service;
let domain: string;
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
beforeAll(async () => {
  stage = await openStage();
  receiver = await startOtlpReceiver();
  service = await stage.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_BSP_SCHEDULE_DELAY: '200',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  domain = await registerWebsite(service.client());
});
afterAll(async () => {
  await stage.close();
  await receiver.close();
});

const requestEmail = (email: string, headers?: Record<string, string>) =>
  service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${domain}/` }, headers);

test('a trace that a caller began continues through the request, its statement and its email', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const email = freshAddress();
  const response = await requestEmail(email, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
  expect([response.status, response.headers['x-request-id']]).toEqual([200, trace]);
  const token = 'a-token-that-is-not-in-a-span';
  const verified = await service.client().get(`/api/verify-token?token=${token}`);
  const spanOf = (name: string, traceId = trace) => receiver.spans.find((span) => span.name === name && span.traceId === traceId);
  const verification = String(verified.headers['x-request-id']);
  await waitUntil('all spans are exported', 30_000, () => {
    const names = receiver.spans.filter(({ traceId }) => traceId === trace).map(({ name }) => name);
    const complete = ['POST /api/auth/domain-auth', 'signin-request', 'mail send'].every((name) => names.includes(name));
    return (complete && spanOf('GET /api/verify-token', verification) !== undefined) || names.join();
  });
  const request = spanOf('POST /api/auth/domain-auth');
  expect(request).toMatchObject({ kind: SERVER, parentSpanId: '00f067aa0ba902b7', error: false });
  expect(request?.attributes).toMatchObject({ 'http.route': '/api/auth/domain-auth', 'http.response.status_code': '200' });
  const statement = spanOf('signin-request');
  expect(statement).toMatchObject({ kind: CLIENT, parentSpanId: request?.spanId, links: [{ traceId: trace, spanId: request?.spanId }] });
  expect(statement?.attributes['db.operation.batch.size']).toBe('1');
  const mail = spanOf('mail send');
  expect(mail).toMatchObject({
    parentSpanId: request?.spanId,
    attributes: { 'emailauth.mail.kind': 'sign_in', 'emailauth.mail.result': 'sent' },
  });
  expect(receiver.resources[0]).toMatchObject({ 'service.name': 'emailauth', 'deployment.environment.name': 'test' });
  const exported = JSON.stringify(receiver.spans);
  for (const secret of [email, domain, token]) expect(exported).not.toContain(secret);
});

test('a statement that several requests share has a link to each of them', async () => {
  const responses = await Promise.all(Array.from({ length: 30 }, () => requestEmail(freshAddress())));
  const traces = responses.map(({ headers }) => String(headers['x-request-id'])).sort();
  const linked = () =>
    receiver.spans.filter(({ name, links }) => name === 'signin-request' && links.some(({ traceId }) => traces.includes(traceId)));
  await waitUntil('the statements are exported', 30_000, () => linked().flatMap(({ links }) => links).length === 30);
  expect(
    linked()
      .flatMap(({ links }) => links.map(({ traceId }) => traceId))
      .sort(),
  ).toEqual(traces);
  expect(Math.max(...linked().map(({ links }) => links.length))).toBeGreaterThan(1);
  for (const { links, attributes } of linked()) expect(attributes['db.operation.batch.size']).toBe(String(links.length));
});

test('the metrics are exported, at the latest when the service stops', async () => {
  const count = () => receiver.metrics.get('emailauth_sign_in_requests_total')?.sum;
  receiver.metrics.clear();
  await service.stop();
  await waitUntil('the metrics of the stopped instance have arrived', 30_000, () => (count() ?? 0) >= 32);
  expect(receiver.metrics.get('emailauth_http_request_duration_seconds')?.sum).toBeGreaterThan(32);
});

test('without a receiver nothing of OpenTelemetry is loaded, and a receiver that is away disturbs nothing', async () => {
  const away = await stage.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    NODE_DEBUG: 'module',
  });
  await waitUntil('the failure is logged', 60_000, () => away.output().includes('OpenTelemetry: an export failed'));
  expect((await away.client().get('/healthz')).status).toBe(200);
  expect(await away.stop()).toBe(0);
  const packages = /@opentelemetry\/(?:sdk|exporter|context)[\w-]*/;
  expect(away.output()).toMatch(packages);
  const off = await stage.start({ NODE_DEBUG: 'module' });
  expect((await off.client().get('/metrics')).status).toBe(200);
  const loaded = off.output();
  expect(loaded).toContain('prom-client');
  expect(loaded).not.toMatch(packages);
  expect(await off.stop()).toBe(0);
});
