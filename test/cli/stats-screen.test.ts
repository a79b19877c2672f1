import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { production } from '../support/harness.ts';
import { waitUntil } from '../support/waiting.ts';
import {
  closeMonth,
  closeTerminals,
  ENTER_SCREEN,
  forgetLimits,
  LEAVE_SCREEN,
  lacks,
  line,
  named,
  numberOf,
  opened,
  openMonth,
  openSessions,
  service,
  shows,
  signIn,
  stage,
  today,
  total,
  withPassword,
} from './month.ts';
import { KEYS, spawnTerminal } from './terminal.ts';

beforeAll(openMonth);
beforeEach(forgetLimits);
afterEach(closeTerminals);
afterAll(closeMonth);

describe('the screen', () => {
  test('handles every key', async () => {
    const terminal = await opened({}, spawnTerminal);
    await shows(terminal, `${named(0)}: ${today} sign-ins`);
    expect(terminal.screen()[0]).toBe(` Sign-ins at localhost:${service.port}, by UTC day`);
    await shows(terminal, /│ Today +│ │ Total, 30 days +│ │ Average a day +│/);
    await shows(terminal, new RegExp(`│ ${today} +│ │ ${total().toLocaleString('en')} +│ │ ${Math.round(total() / 30)} +│`));
    await shows(terminal, '1 to 5 of 30');

    // The selected day is inverted: its number below the bars and its name in the list; the mark is above the number.
    const chosenIs = async (i: number, figure: string) => {
      await shows(terminal, `${named(i)}: ${figure}`);
      await waitUntil(`${named(i)} is the chosen day`, 30_000, () => {
        const numbers = line(terminal, new RegExp(`^ +${numberOf(13)} .* ${numberOf(0)} *$`));
        const screen = terminal.screen();
        const isMarked = screen[numbers - 2]?.[screen[numbers]?.indexOf(numberOf(i)) ?? -1] === '▲';
        const another = numberOf(i === 0 ? 1 : 0);
        const isInverse = [numberOf(i), another].map((number) => terminal.cellOf(number, numbers)?.inverse);
        return (isMarked && isInverse[0] === true && isInverse[1] === false) || `it shows:\n${screen.join('\n')}`;
      });
    };
    await chosenIs(0, `${today} sign-ins`);
    terminal.type(KEYS.left);
    await chosenIs(1, '1,001 sign-ins');
    await waitUntil('the list marks it too', 45_000, () => {
      const cells = [`${named(1)}  1,001`, `${named(0)}      ${today}`].map((text) => terminal.cellOf(text)?.inverse);
      return (cells[0] === true && cells[1] === false) || terminal.screen().join('\n');
    });
    terminal.type(KEYS.left.repeat(4));
    await chosenIs(5, '0 sign-ins');
    terminal.type(KEYS.right);
    await chosenIs(4, '1,004 sign-ins');
    terminal.type('\x1b[H');
    await chosenIs(13, '1,013 sign-ins');
    await shows(terminal, '10 to 14 of 30');
    terminal.type('\x1b[F');
    await chosenIs(0, `${today} sign-ins`);
    await shows(terminal, '1 to 5 of 30');
    await shows(terminal, '▸ Last 14 days');

    terminal.type(KEYS.down);
    await shows(terminal, '2 to 6 of 30');
    await shows(terminal, '▸ All 30 days');
    for (const [keys, places] of [
      ['j', '3 to 7 of 30'],
      ['k', '2 to 6 of 30'],
      [KEYS.up, '1 to 5 of 30'],
      ['\x1b[6~', '6 to 10 of 30'],
      ['\x1b[5~', '1 to 5 of 30'],
      ['\x1b[F', '26 to 30 of 30'],
      ['jjj', '26 to 30 of 30'],
      ['\x1b[H', '1 to 5 of 30'],
    ]) {
      terminal.type(keys);
      await shows(terminal, places);
    }
    terminal.type(KEYS.tab);
    await shows(terminal, '▸ Last 14 days');
    terminal.type(KEYS.tab);
    await shows(terminal, '▸ All 30 days');

    await signIn();
    terminal.type('r');
    await shows(terminal, `${named(0)}: ${today} sign-ins`);
    await signIn();
    terminal.type('a');
    await shows(terminal, 'auto-refresh every minute');
    await shows(terminal, `${named(0)}: ${today} sign-ins`);
    terminal.type('a');
    await shows(terminal, 'auto-refresh off');

    terminal.type('?');
    await shows(terminal, 'auto-refresh on or off');
    terminal.type('?');
    await shows(terminal, 'Average a day');
    terminal.type('?');
    await shows(terminal, 'this help, and back');
    terminal.type(KEYS.escape);
    await shows(terminal, 'Average a day');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
  });

  test('restores the terminal and ends the session at q, Esc and Ctrl-C', async () => {
    const before = await openSessions();
    for (const key of ['q', KEYS.escape, KEYS.interrupt]) {
      const terminal = await opened();
      expect(await openSessions()).toBe(before + 1);
      terminal.type(key);
      expect(await terminal.exited).toBe(0);
      expect(terminal.bytes().startsWith(ENTER_SCREEN)).toBe(true);
      expect(terminal.bytes().endsWith(LEAVE_SCREEN)).toBe(true);
      expect(terminal.text().trim()).toBe('');
      // No sequence that would clear the scrollback.
      expect(terminal.bytes()).not.toContain('\x1b[3J');
      await waitUntil('its session has ended', 30_000, async () => (await openSessions()) === before);
    }
  });

  test('restores the terminal at SIGHUP', async () => {
    const terminal = await opened({}, spawnTerminal);
    terminal.signal('SIGHUP');
    expect(await terminal.exited).toBe(2);
    expect(terminal.bytes()).toContain(LEAVE_SCREEN);
    expect(terminal.bytes().slice(terminal.bytes().indexOf(LEAVE_SCREEN) + LEAVE_SCREEN.length)).not.toContain('\x1b');
    expect(terminal.text().trim()).toBe('');
  });

  test('adapts to the size of the terminal and uses its colors', async () => {
    const terminal = await opened({ columns: 100, rows: 30 }, spawnTerminal);
    terminal.type(KEYS.left);
    await shows(terminal, `${named(1)}: 1,001 sign-ins`);
    const bars = line(terminal, /█/);
    expect(terminal.cellOf('█', bars)?.colour).toBe(6);

    await terminal.resize(40, 20);
    await shows(terminal, /│ Today +│ │ 30 days +│ │ A day +│/);
    await shows(terminal, `: 1,001`);
    await lacks(terminal, 'Average');
    await terminal.resize(200, 50);
    // Chart and list are side by side, with all days visible.
    await shows(terminal, new RegExp(`Last 14 days .*${named(1)}: 1,001 sign-ins +All 30 days`));
    await shows(terminal, named(29));
    await terminal.resize(80, 10);
    await shows(terminal, `Today ${today} · Total, 30 days ${total().toLocaleString('en')} · Average a day ${Math.round(total() / 30)}`);
    await lacks(terminal, 'All 30 days');
    terminal.type(KEYS.tab);
    await shows(terminal, '▸ All 30 days');
    terminal.type(KEYS.tab);
    await terminal.resize(100, 30);
    await shows(terminal, 'Average a day');
    await waitUntil('Today stands there once', 45_000, () => terminal.screen().join('\n').match(/Today/g)?.length === 1);
    // Only the 16 colors.
    expect(terminal.bytes()).not.toMatch(/\[[\d;:]*[34]8[;:][\d;:]*m/);
  });

  test('uses no colors with NO_COLOR and marks the selected day', async () => {
    const terminal = await opened({ env: { ...withPassword, NO_COLOR: '1' } }, spawnTerminal);
    terminal.type(KEYS.left);
    await shows(terminal, `${named(1)}: 1,001 sign-ins`);
    await shows(terminal, `▸ ${named(1)}`);
    await shows(terminal, /─▲─/);
    terminal.type('q');
    await terminal.exited;
    // Only the reset at the end.
    expect(terminal.bytes().match(/\[[\d;]*m/g)).toEqual(['[0m']);
  });

  test('uses only ASCII with --no-color in a locale without UTF-8', async () => {
    const terminal = await opened({ args: ['--no-color'], env: { ...withPassword, LANG: 'C' } }, spawnTerminal);
    await shows(terminal, '####');
    await shows(terminal, /-\^-/);
    await shows(terminal, /^[\x20-\x7e\n]*$/);
    expect(terminal.bytes()).not.toMatch(/\[[\d;]*m/);
  });

  // Last, since it ends the service.
  test('reports an ended session, an unreachable service and a changed password, and reloads by r', async () => {
    const terminal = await opened();
    await stage.query('delete from admin_sessions');
    terminal.type('a');
    await shows(terminal, 'The admin session has ended. Press r to open it again.');
    expect(await openSessions()).toBe(0);
    terminal.type('r');
    await shows(terminal, 'q quit');
    expect(await openSessions()).toBe(1);

    await service.stop();
    terminal.type('r');
    await shows(terminal, 'The service cannot be reached. Press r to try again.');
    await shows(terminal, `${named(0)}: ${today} sign-ins`);
    await stage.start({ ...production, PORT: String(service.port), ADMIN_PASSWORD: 'another password for the tests' });
    terminal.type('r');
    await shows(terminal, 'The admin password was changed. Quit, and run `emailauth stats` again.');
    await lacks(terminal, 'cannot be reached');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
  });
});
