// A stage of its own: it deletes all probes, and its mail server fails.
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import { evaluates, heading, openScene, type Scene } from './scene.ts';

const MINUTE_MS = 60_000;

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

/** Opens a page in a new browser. @param fakeClock whether `page.clock` can advance its time, which passes normally otherwise */
const openPage = async (path: string, { fakeClock = false } = {}) => {
  const page = await (await scene.newBrowser()).newPage();
  if (fakeClock) await page.clock.install();
  await page.goto(`${scene.service.url}${path}`);
  return page;
};

const statusNow = async () => (await scene.service.client().get('/api/status')).json;

/** Loads the page once everything is operational: on a busy machine a response may count as slow. */
const untilOperational = (page: Page) =>
  waitUntil('all systems are operational', 120_000, async () => {
    if ((await statusNow()).state !== 'operational') return false;
    await page.reload();
    await page.getByText('Checked at').waitFor();
    return (await page.getByRole('heading', { name: 'All Systems Operational' }).count()) > 0;
  });

test('shows the current state, first without and then with a history', { timeout: 5 * MINUTE_MS }, async () => {
  const page = await openPage('/status');
  // On a busy machine a probe may have failed, which is an incident.
  await waitUntil('the page shows no incidents', 120_000, async () => {
    await scene.stage.query('delete from probes');
    await untilOperational(page);
    return (await page.getByText('No incidents reported').count()) > 0;
  });
  await expect.poll(() => page.getByText('Not enough data yet').count()).toBe(2);
  await expect.poll(() => page.getByText('Coming Soon').count()).toBe(2);
  await page.getByRole('link', { name: 'Maintenance' }).click();
  await page.waitForURL('**/status#maintenance');

  await scene.stage.query(`
    insert into probes (minute, database_ms, response_ms, failed)
    select date_trunc('minute', now()) - make_interval(mins => 30 + n), 1, 4, case when n between 50 and 61 then '{mail}' else '{}' end::text[]
    from generate_series(1, 600) as n on conflict do nothing`);
  await waitUntil('the status has the incident', 90_000, async () => (await statusNow()).history?.incidents.length > 0);
  await page.reload();
  await page.getByText('Emails could not be sent.').waitFor();
  await page.getByText(/· 12 minutes$/).waitFor();
  await page.getByText('Resolved').first().waitFor();
  const body = (await page.locator('main').textContent()) ?? '';
  expect(body).toMatch(/Uptime \(30 days\)9\d(\.\d+)?%/);
  expect(body).toMatch(/Average response \(30 days\)\d+(\.\d)? ms/);
  expect(body).toMatch(/Incidents \(30 days\)[1-9]/);
  await page.getByText('Day by day, as a table').click();
  await expect.poll(() => page.getByRole('table').getByRole('row').count()).toBe(31);
  await page.setViewportSize({ width: 320, height: 700 });
  await evaluates(page, 'document.documentElement.scrollWidth <= innerWidth', true);
});

test('shows a degraded status when emails are not sent and when the service does not respond', { timeout: 6 * MINUTE_MS }, async () => {
  const page = await openPage('/status', { fakeClock: true });
  await scene.stage.mailbox.down();
  await waitUntil('the status is degraded', 120_000, async () => (await statusNow()).state === 'degraded');
  await page.reload();
  await heading(page, 'Some Systems Are Degraded');
  await page.getByText('Emails are waiting and will be sent as soon as the mail server responds.').waitFor();
  await page.getByText('Ongoing').waitFor();
  await scene.stage.mailbox.up();

  const other = await openPage('/webservices/email-auth/register');
  await scene.service.stop();
  await other.getByRole('link', { name: 'Status' }).click();
  await heading(other, 'This page could not be loaded');
  // The page that is already open polls every minute.
  await heading(page, 'Some Systems Are Degraded');
  await page.clock.fastForward(MINUTE_MS);
  await heading(page, 'The Service Cannot Be Reached');
  await page.getByText('The service does not answer').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await scene.stage.start({ PORT: String(scene.service.port) });
  await page.getByText('The service does not answer').waitFor({ state: 'detached', timeout: 120_000 });
  await untilOperational(page);
});
