/**
 * `node --import tsx test/bench/lighthouse.ts`: Lighthouse over the public pages of the built service in local mode, as a Markdown
 * table, which docs/performance.md shows. Arguments are paths to audit instead of all. Lighthouse is downloaded, since only this program needs it.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { waitUntil } from '../waiting.ts';

const VERSION = '12.8.2';
const PORT = 3977;
const origin = `http://localhost:${PORT}`;
const CHROME_PATH = process.env.CHROMIUM_PATH ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path)) ?? '';
const allPaths = [
  '/',
  '/auth',
  `/auth?forward_url=${origin}/demo`,
  '/webservices/email-auth',
  '/webservices/email-auth/quick-start',
  '/webservices/email-auth/api',
  '/webservices/email-auth/cli',
  '/webservices/email-auth/register',
  '/status',
  '/tos',
  '/privacy',
  '/iladmin',
];

/** Pages that ask search engines not to list them, for which Lighthouse would lower the score for SEO. */
const UNLISTED = /^\/(?:auth|iladmin|admin|developer|dashboard|profile)/;

type Audit = { score: number | null; scoreDisplayMode: string; numericValue?: number };
type Report = {
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, Audit>;
};

/** Returns the report of a page. @param folder where the report is written */
async function reportOf(folder: string, path: string, desktop: boolean): Promise<Report> {
  const output = join(folder, 'report.json');
  const args = [`lighthouse@${VERSION}`, `${origin}${path}`, '--quiet', '--output=json', `--output-path=${output}`];
  const options = [...(desktop ? ['--preset=desktop'] : []), ...(UNLISTED.test(path) ? ['--skip-audits=is-crawlable'] : [])];
  for (let attempt = 1; ; attempt++) {
    try {
      await execa('npx', ['--yes', ...args, ...options, '--chrome-flags=--headless=new --no-sandbox'], { env: { CHROME_PATH } });
      return JSON.parse(await readFile(output, 'utf8'));
    } catch (error) {
      // "NO_NAVSTART … Please run Lighthouse again": Chromium sometimes records no trace.
      if (attempt === 3) throw error;
    }
  }
}

/** Returns a row of the table, and in the last cell the checks that failed. */
function rowOf(path: string, form: string, { categories, audits }: Report): string {
  const scores = Object.values(categories).map(({ score }) => Math.round(score * 100));
  const failed = Object.entries(categories)
    .filter(([name]) => name !== 'performance')
    .flatMap(([, { auditRefs }]) => auditRefs)
    .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && (audits[id].score ?? 0) < 0.9);
  const seconds = (id: string) => ((audits[id].numericValue ?? 0) / 1000).toFixed(1);
  const shift = (audits['cumulative-layout-shift'].numericValue ?? 0).toFixed(3);
  const blocked = Math.round(audits['total-blocking-time'].numericValue ?? 0);
  const times = `${seconds('largest-contentful-paint')} | ${blocked} | ${shift}`;
  return `| ${path.replace(origin, '…')} | ${form} | ${scores.join(' / ')} | ${times} | ${failed.map(({ id }) => id).join(', ')} |`;
}

const folder = await mkdtemp(join(tmpdir(), 'emailauth-lighthouse-'));
const service = execa('node', ['dist/cli/main.js', 'start'], { env: { PORT: `${PORT}`, DATA_DIR: join(folder, 'data') }, reject: false });
try {
  await waitUntil('the service is ready', 60_000, async () => (await fetch(`${origin}/healthz`).catch(() => null))?.ok ?? false);
  console.log(
    '| page | form | performance / accessibility / best practices / SEO | LCP, s | TBT, ms | CLS | failed |\n|---|---|---|---|---|---|---|',
  );
  const given = process.argv.slice(2);
  for (const path of given.length > 0 ? given : allPaths)
    for (const form of ['desktop', 'mobile']) console.log(rowOf(path, form, await reportOf(folder, path, form === 'desktop')));
} finally {
  service.kill();
  await service;
  await rm(folder, { recursive: true, force: true });
}
