/**
 * `node --import tsx test/bench/lighthouse.ts`: Lighthouse over the pages of the built service in local mode, those of the portal with
 * the session of a developer, as a Markdown table, which docs/performance.md shows. Arguments are paths to audit instead of all.
 * Lighthouse is downloaded, since only this program needs it.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { chromium } from 'playwright';
import { SESSION_SEEN_COOKIE } from '../../contract/remembered.ts';
import { Client } from '../support/client.ts';
import { openMailbox } from '../support/mailbox.ts';
import { signInDeveloper } from '../support/sign-ins.ts';
import { freePort, waitUntil } from '../support/waiting.ts';

const VERSION = '12.8.2';
const PORT = 3977;
const origin = `http://localhost:${PORT}`;
const CHROME_PATH = process.env.CHROMIUM_PATH ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path)) ?? '';
const domain = 'shop.example';
const password = 'an operator password';
const allPaths = [
  '/',
  '/auth',
  `/auth?forward_url=${origin}/demo`,
  '/webservices/email-auth',
  '/webservices/email-auth/quick-start',
  '/webservices/email-auth/api',
  '/webservices/email-auth/cli',
  '/webservices/email-auth/openid-connect',
  '/webservices/email-auth/register',
  '/status',
  '/tos',
  '/privacy',
  '/iladmin',
  '/iladmin#unlocked',
  '/admin',
  '/passkeys',
  '/developer',
  '/developer-email-auth',
  '/dashboard',
  '/dashboard/activity',
  '/dashboard/analytics',
  '/dashboard/auth',
  '/dashboard/settings',
  '/dashboard/settings/branding',
  '/dashboard/settings/security',
  ...['setup', 'stats', 'log', 'visitors', 'team', 'branding', 'settings'].map((tab) => `/dashboard/websites/${domain}/${tab}`),
  '/profile',
];

/** Pages that ask search engines not to list them, for which Lighthouse would lower the score for SEO. */
const UNLISTED = /^\/(?:auth|iladmin|admin|developer|dashboard|profile|passkeys)/;
/** Pages that need a session, and the dashboard of the operator behind its password. */
const PORTAL = /^\/(?:developer|dashboard|profile|passkeys|admin|iladmin#)/;

type Audit = { score: number | null; scoreDisplayMode: string; numericValue?: number };
type Report = {
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, Audit>;
};

/** Returns the report of a page in a new browser. @param folder where the report is written @param session the cookies of a developer */
async function reportOf(folder: string, path: string, desktop: boolean, session: Map<string, string>): Promise<Report> {
  const output = join(folder, 'report.json');
  const options = [...(desktop ? ['--preset=desktop'] : []), ...(UNLISTED.test(path) ? ['--skip-audits=is-crawlable'] : [])];
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const browser = await chromium.launchPersistentContext(await mkdtemp(join(folder, 'profile-')), {
      executablePath: CHROME_PATH,
      args: [`--remote-debugging-port=${port}`, '--no-sandbox'],
    });
    try {
      if (PORTAL.test(path))
        await browser.addCookies([...session, [SESSION_SEEN_COOKIE, '1']].map(([name, value]) => ({ name, value, url: origin })));
      const args = [`lighthouse@${VERSION}`, `${origin}${path}`, `--port=${port}`, '--quiet', '--output=json', `--output-path=${output}`];
      await execa('npx', ['--yes', ...args, ...options]);
      return JSON.parse(await readFile(output, 'utf8'));
    } catch (error) {
      // "NO_NAVSTART … Please run Lighthouse again": Chromium sometimes records no trace.
      if (attempt === 3) throw error;
    } finally {
      await browser.close();
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
const mailbox = await openMailbox();
const service = execa('node', ['dist/cli/main.js', 'start'], {
  env: { PORT: `${PORT}`, DATA_DIR: join(folder, 'data'), SMTP_URL: mailbox.url, ADMIN_PASSWORD: password },
  reject: false,
});
try {
  await waitUntil('the service is ready', 60_000, async () => (await fetch(`${origin}/healthz`).catch(() => null))?.ok ?? false);
  const { client } = await signInDeveloper({ mailbox }, { client: () => new Client(origin) });
  await client.post('/api/websites', { domain });
  await client.post('/api/admin/verify', { password });
  console.log(
    '| page | form | performance / accessibility / best practices / SEO | LCP, s | TBT, ms | CLS | failed |\n|---|---|---|---|---|---|---|',
  );
  const given = process.argv.slice(2);
  for (const path of given.length > 0 ? given : allPaths)
    for (const form of ['desktop', 'mobile'])
      console.log(rowOf(path, form, await reportOf(folder, path, form === 'desktop', client.cookies)));
} finally {
  service.kill();
  await service;
  await mailbox.down();
  await rm(folder, { recursive: true, force: true });
}
