import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort, waitUntil } from '../support/waiting.ts';
import {
  closeMonth,
  closeTerminals,
  dates,
  forgetLimits,
  open,
  openMonth,
  openSessions,
  PASSWORD,
  past,
  run,
  service,
  stage,
  today,
  total,
  withPassword,
} from './month.ts';
import { KEYS } from './terminal.ts';

beforeAll(openMonth);
beforeEach(forgetLimits);
afterEach(closeTerminals);
afterAll(closeMonth);

describe('without a screen', () => {
  test('--json prints the days, newest first, and their total', async () => {
    const { exitCode, stderr, json } = await run(['--json']);
    expect([exitCode, stderr]).toEqual([0, '']);
    const days = [today, ...past].map((count, i) => ({ date: dates[i], count }));
    expect(json()).toEqual({ days, today, total: total(), average: Math.round(total() / 30) });
  });

  test('--days limits the days', async () => {
    const stats = (await run(['--json', '--days', '3'])).json();
    expect(stats.days).toHaveLength(3);
    expect(stats).toMatchObject({ today, total: today + 2003, average: Math.round((today + 2003) / 3) });
  });

  test('a pipe gets a table', async () => {
    const { exitCode, stdout, stderr } = await run(['--days', '2']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      `Today                ${today}\nTotal of 2 days  1,00${today + 1}\nAverage a day      ${Math.round((today + 1001) / 2)}\n\nDate        Logins\n${dates[0]}       ${today}\n${dates[1]}   1,001`,
    );
  });

  test('prints the table with --plain, in a dumb terminal and for screen readers', async () => {
    const plain = [
      open({ args: ['--plain'] }),
      open({ env: { ...withPassword, TERM: 'dumb' } }),
      open({ env: { ...withPassword, INK_SCREEN_READER: 'true' } }),
    ];
    expect(await Promise.all(plain.map(({ exited }) => exited))).toEqual([0, 0, 0]);
    for (const terminal of plain) {
      expect(terminal.text()).toContain('Average a day');
      expect(terminal.bytes()).not.toContain('\x1b');
    }
  });

  test('--days accepts 1 to 30', async () => {
    const ran = await Promise.all(['0', '31', 'x'].map((days) => run(['--days', days])));
    const expected = { exitCode: 3, stdout: '', stderr: '--days takes a number from 1 to 30.' };
    for (const each of ran) expect(each).toMatchObject(expected);
  });

  test('the session ends with the command', async () => {
    const before = await openSessions();
    await run(['--plain']);
    await waitUntil('its session has ended', 30_000, async () => (await openSessions()) === before);
  });
});

describe('the password', () => {
  test('is prompted for without echo, and again after a wrong one', async () => {
    const terminal = open({ env: {} });
    await terminal.waitFor('Admin password');
    terminal.type(`not this one${KEYS.enter}`);
    await terminal.waitFor(/That is not the admin password\. Try again\.[\s\S]*◆ {2}Admin password/);
    terminal.type(`${PASSWORD}${KEYS.enter}`);
    await terminal.waitFor('Refreshed at');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
    expect(terminal.bytes()).not.toContain(PASSWORD);
    expect(terminal.bytes()).not.toContain('not this one');
  });

  test('exits after three wrong passwords', async () => {
    const terminal = open({ env: {} });
    for (let i = 1; i <= 3; i++) {
      await waitUntil(
        'it asks',
        15_000,
        () => terminal.text().split('◆  Admin password').length === 2 && terminal.text().split('Try again').length === i,
      );
      terminal.type(`wrong${KEYS.enter}`);
    }
    expect(await terminal.exited).toBe(4);
    expect(terminal.text()).toMatch(/That is not the admin password\.\nIt is the service's ADMIN_PASSWORD; a local service prints its own/);
    expect(terminal.bytes()).not.toContain('\x1b[?1049h');
  });

  test('cancels on Ctrl-C at the prompt', async () => {
    const terminal = open({ env: {} });
    await terminal.waitFor('Admin password');
    terminal.type(KEYS.interrupt);
    expect(await terminal.exited).toBe(2);
  });

  test('exits with 4 when wrong in the environment, and with 3 when it cannot prompt', async () => {
    const wrong = await run([], { EMAILAUTH_ADMIN_PASSWORD: 'wrong' });
    expect([wrong.exitCode, wrong.stdout]).toEqual([4, '']);
    expect(wrong.stderr).toContain('EMAILAUTH_ADMIN_PASSWORD is not the admin password.');
    const none = await run(['--json'], {});
    expect(none.exitCode).toBe(3);
    expect(none.json().error.message).toContain('EMAILAUTH_ADMIN_PASSWORD is missing');
  });

  test('exits with 7 and the time to wait after too many attempts', async () => {
    for (let i = 0; i < 5; i++) await service.client().post('/api/admin/verify', { password: 'wrong' });
    const { exitCode, stderr } = await run([]);
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^Too many wrong passwords .*\nTry again in 1\d minutes\.$/);
  });

  test('is not prompted for when the operator has not set one', async () => {
    const disabled = await stage.start({ NODE_ENV: 'production' });
    const terminal = open({ env: { EMAILAUTH_HOST: disabled.url } });
    expect(await terminal.exited).toBe(1);
    expect(terminal.text()).toMatch(/^The admin dashboard is disabled\.\nThe operator can enable it: set ADMIN_PASSWORD/);
    const { exitCode } = await run([], { ...withPassword, EMAILAUTH_HOST: disabled.url });
    expect(exitCode).toBe(1);
    await disabled.stop();
  });

  test('exits with 8 without a service', async () => {
    const { exitCode, stderr } = await run([], { ...withPassword, EMAILAUTH_HOST: `http://localhost:${await freePort()}` });
    expect(exitCode).toBe(8);
    expect(stderr).toContain('cannot be reached');
  });
});
