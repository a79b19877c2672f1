// A stage of its own: it reads the metrics of one service.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { readMetrics } from '../../support/metrics-text.ts';
import { freshAddress, openLink, registerWebsite, requestEmail } from '../../support/sign-ins.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';

const PROMETHEUS = '/usr/bin/prometheus';
const hasPrometheus = existsSync(PROMETHEUS) && existsSync('/usr/bin/promtool');
if (!hasPrometheus) console.warn('\n!! The tests with Prometheus are skipped: on Debian, apt-get install prometheus\n');

const folder = join(import.meta.dirname, '../../../server/deploy/monitoring');
const rulesFile = join(folder, 'alerts.yml');
const METRIC = /\b(?:emailauth|process|nodejs)_[a-z0-9_]+/g;

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
  const domain = await registerWebsite(service.client());
  const client = service.client();
  const email = freshAddress();
  await requestEmail(client, email, `https://${domain}/`);
  await openLink(client, await stage.mailbox.waitFor(email));
});
afterAll(() => stage.close());

/** Returns the expressions of the dashboard, with values for its variables. */
async function dashboardExpressions(): Promise<string[]> {
  const { panels } = JSON.parse(await readFile(join(folder, 'dashboard.json'), 'utf8'));
  const expressions: string[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'));
}

test('every metric of the dashboard and of the alert rules is one of /metrics', async () => {
  const texts = [
    ...(await dashboardExpressions()),
    ...(await readFile(rulesFile, 'utf8')).split('\n').filter((line) => !line.includes('description:')),
  ];
  const named = new Set(texts.flatMap((text) => text.match(METRIC) ?? []));
  expect(named.size).toBeGreaterThan(15);
  await waitUntil('a job has run, and all metrics exist', 100_000, async () => {
    const { names } = await readMetrics(service);
    const missing = [...named].filter((name) => !names.has(name));
    return missing.length === 0 || missing.join();
  });
});

test.skipIf(!hasPrometheus)('promtool accepts the alert rules, and they fire as their tests say', async () => {
  await promisify(execFile)('/usr/bin/promtool', ['check', 'rules', rulesFile]);
  await promisify(execFile)('/usr/bin/promtool', ['test', 'rules', join(folder, 'alerts.test.yml')]);
});

test.skipIf(!hasPrometheus)(
  'a Prometheus that scrapes the service evaluates every rule and every expression of the dashboard',
  async () => {
    const data = await mkdtemp(join(tmpdir(), 'emailauth-prometheus-'));
    const port = await freePort();
    const scrape = `scrape_configs: [{ job_name: emailauth, scrape_interval: 1s, static_configs: [{ targets: ["localhost:${service.port}"] }] }]`;
    await writeFile(join(data, 'prometheus.yml'), `global: { evaluation_interval: 1s }\nrule_files: ["${rulesFile}"]\n${scrape}\n`);
    const args = [`--config.file=${join(data, 'prometheus.yml')}`, `--storage.tsdb.path=${join(data, 'tsdb')}`];
    const prometheus = spawn(PROMETHEUS, [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
    // biome-ignore lint/suspicious/noExplicitAny: the responses of the API differ.
    const api = async (path: string): Promise<any> => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json();
    const query = (expr: string) => api(`query?query=${encodeURIComponent(expr)}`);
    try {
      await waitUntil('the service is scraped twice', 60_000, async () => {
        const { data: found } = await query('count_over_time(emailauth_workers[5m])').catch(() => ({}));
        return Number(found?.result[0]?.value[1]) >= 2;
      });
      for (const expr of await dashboardExpressions()) {
        const { status, error } = await query(expr);
        expect([expr, status, error]).toEqual([expr, 'success', undefined]);
      }
      await waitUntil('every rule is evaluated', 60_000, async () => {
        const { data: found } = await api('rules');
        const rules: { name: string; health: string; state: string }[] = found.groups[0].rules;
        return rules.every(({ health }) => health === 'ok') || rules.map(({ name, health }) => `${name} ${health}`).join();
      });
      const { data: found } = await api('rules');
      expect(found.groups[0].rules.map(({ state }: { state: string }) => state)).not.toContain('firing');
      expect((await query('sum(emailauth_sign_ins_total{method="link",result="signed_in"})')).data.result[0].value[1]).toBe('1');
    } finally {
      prometheus.kill('SIGTERM');
      await new Promise((resolve) => prometheus.once('exit', resolve));
      await rm(data, { recursive: true, force: true });
    }
  },
);
