import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStage, production, type Service, type Stage } from '../harness.ts';
import { addSite, visitorToken } from '../sign-ins.ts';
import { freePort, waitUntil } from '../waiting.ts';
import { entry, type Home, openHome } from './command.ts';
import { KEYS, openTerminal, type Terminal } from './terminal.ts';

const PASSWORD = production.ADMIN_PASSWORD;
const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l';
const LEAVE_SCREEN = '\x1b[?25h\x1b[?1049l';

let stage: Stage;
let service: Service;
let home: Home;
let site: string;
/** The last 30 UTC days as YYYY-MM-DD, newest first. */
let dates: string[];
/** Sign-ins of today, of which the service remembers every one, and of the days before. */
let today = 4;
const past = Array.from({ length: 29 }, (_, i) => (i + 1 === 5 ? 0 : 1001 + i));
const total = () => past.reduce((sum, count) => sum + count, today);
const terminals: Terminal[] = [];
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start(production);
  home = await openHome(service.url);
  // A month of the past, and four sign-ins of today: one to the portal, three to a site.
  await stage.query(`insert into daily_logins select (now() at time zone 'utc')::date - n, case when n = 5 then 0 else 1000 + n end
    from generate_series(1, 29) n`);
  site = await addSite(stage, service);
  for (let i = 0; i < 3; i++) await visitorToken(stage, service.client(), site);
  dates = (await stage.query("select ((now() at time zone 'utc')::date - n)::text as date from generate_series(0, 29) n")).map(({ date }) =>
    String(date),
  );
});
beforeEach(() => stage.query('truncate rate_limits'));
afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
});
afterAll(async () => {
  await home?.close();
  await stage.close();
});

const withPassword = { EMAILAUTH_ADMIN_PASSWORD: PASSWORD };
const run = (args: string[], env: Record<string, string> = withPassword) => home.run(['stats', ...args], { env });
async function signIn(): Promise<void> {
  await visitorToken(stage, service.client(), site);
  today++;
}
const openSessions = async () => Number((await stage.query('select count(*) as many from admin_sessions'))[0].many);

/** The command in a terminal. */
function open(options: { args?: string[]; columns?: number; rows?: number; env?: Record<string, string>; from?: Home } = {}): Terminal {
  const { args = [], from = home, env = withPassword, ...size } = options;
  const terminal = openTerminal(from, ['stats', ...args], { ...size, env });
  terminals.push(terminal);
  return terminal;
}

/** The screen, once it has the figures. */
async function opened(options?: Parameters<typeof open>[0]): Promise<Terminal> {
  const terminal = open(options);
  await terminal.waitFor('? help');
  await terminal.waitFor(/\d\d:\d\d:\d\d/);
  return terminal;
}

const WEEKDAY = new Intl.DateTimeFormat('en-US', { weekday: 'short', timeZone: 'UTC' });
const MONTH = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' });
/** A day as the screen names it. */
function named(i: number): string {
  const time = new Date(`${dates[i]}T00:00:00Z`);
  return `${WEEKDAY.format(time)} ${dates[i].slice(8)} ${MONTH.format(time)} ${dates[i].slice(0, 4)}`;
}
const numberOf = (i: number) => dates[i].slice(8);
/** Waits for what the screen, not what scrolled away, has. */
const shows = (terminal: Terminal, text: string | RegExp) =>
  waitUntil(`the screen shows ${text}`, 15_000, () => {
    const screen = terminal.screen().join('\n');
    return (typeof text === 'string' ? screen.includes(text) : text.test(screen)) || `it shows:\n${screen}`;
  });
const line = (terminal: Terminal, text: string | RegExp) => terminal.screen().findIndex((each) => each.match(text));

describe('without a screen', () => {
  test('--json answers the days, newest first, and what they come to', async () => {
    const { exitCode, stderr, json } = await run(['--json']);
    expect([exitCode, stderr]).toEqual([0, '']);
    const days = [today, ...past].map((count, i) => ({ date: dates[i], count }));
    expect(json()).toEqual({ days, today, total: total(), average: Math.round(total() / 30) });
  });

  test('--days takes fewer', async () => {
    const figures = (await run(['--json', '--days', '3'])).json();
    expect(figures.days).toHaveLength(3);
    expect(figures).toMatchObject({ today, total: today + 2003, average: Math.round((today + 2003) / 3) });
  });

  test('a pipe gets a table, and so does jq', async () => {
    const { exitCode, stdout, stderr } = await run(['--days', '2']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      `Today                ${today}\nTotal of 2 days  1,00${today + 1}\nAverage a day      ${Math.round((today + 1001) / 2)}\n\nDate        Logins\n${dates[0]}       ${today}\n${dates[1]}   1,001`,
    );
    const piped = await execa('sh', ['-c', `"${process.execPath}" "${entry}" stats --json | jq .total`], {
      env: { ...home.env, ...withPassword },
    });
    expect(piped.stdout).toBe(String(total()));
  });

  test('--plain is the table in a terminal, and so is a terminal that cannot draw or is read out', async () => {
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

  test('--days takes 1 to 30', async () => {
    const ran = await Promise.all(['0', '31', 'x'].map((days) => run(['--days', days])));
    const expected = { exitCode: 3, stdout: '', stderr: '--days takes a number from 1 to 30.' };
    for (const each of ran) expect(each).toMatchObject(expected);
  });

  test('the session ends with the command', async () => {
    const before = await openSessions();
    await run(['--plain']);
    expect(await openSessions()).toBe(before);
  });
});

describe('the password', () => {
  test('is asked hidden; a wrong one is told and asked again', async () => {
    const terminal = open({ env: {} });
    await terminal.waitFor('Admin password');
    terminal.type(`not this one${KEYS.enter}`);
    await terminal.waitFor('That is not the admin password. Try again.');
    terminal.type(`${PASSWORD}${KEYS.enter}`);
    await terminal.waitFor('Refreshed at');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
    expect(terminal.bytes()).not.toContain(PASSWORD);
    expect(terminal.bytes()).not.toContain('not this one');
  });

  test('wrong three times ends it', async () => {
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

  test('Ctrl-C at the question cancels', async () => {
    const terminal = open({ env: {} });
    await terminal.waitFor('Admin password');
    terminal.type(KEYS.interrupt);
    expect(await terminal.exited).toBe(2);
  });

  test('wrong in the environment ends with 4; without any nobody is asked', async () => {
    const wrong = await run([], { EMAILAUTH_ADMIN_PASSWORD: 'wrong' });
    expect([wrong.exitCode, wrong.stdout]).toEqual([4, '']);
    expect(wrong.stderr).toContain('EMAILAUTH_ADMIN_PASSWORD is not the admin password.');
    const none = await run(['--json'], {});
    expect(none.exitCode).toBe(3);
    expect(none.json().error.message).toContain('EMAILAUTH_ADMIN_PASSWORD is missing');
  });

  test('tried too often ends with 7 and how long to wait', async () => {
    for (let i = 0; i < 5; i++) await service.client().post('/api/admin/verify', { password: 'wrong' });
    const { exitCode, stderr } = await run([]);
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^Too many wrong passwords .*\nTry again in 1\d minutes\.$/);
  });

  test('that no operator has set is not asked for', async () => {
    const disabled = await stage.start({ NODE_ENV: 'production' });
    const terminal = open({ env: { EMAILAUTH_HOST: disabled.url } });
    expect(await terminal.exited).toBe(1);
    expect(terminal.text()).toMatch(/^The admin dashboard is disabled\.\nThe operator sets ADMIN_PASSWORD/);
    const { exitCode } = await run([], { ...withPassword, EMAILAUTH_HOST: disabled.url });
    expect(exitCode).toBe(1);
    await disabled.stop();
  });

  test('a service that is not there ends with 8', async () => {
    const { exitCode, stderr } = await run([], { ...withPassword, EMAILAUTH_HOST: `http://localhost:${await freePort()}` });
    expect(exitCode).toBe(8);
    expect(stderr).toContain('cannot be reached');
  });
});

describe('the screen', () => {
  test('every key', async () => {
    const terminal = await opened();
    await shows(terminal, `${named(0)}: ${today} sign-ins`);
    expect(terminal.screen()[0]).toBe(` Sign-ins at localhost:${service.port}, by UTC day`);
    await shows(terminal, /│ Today +│ │ Total, 30 days +│ │ Average a day +│/);
    await shows(terminal, new RegExp(`│ ${today} +│ │ ${total().toLocaleString('en')} +│ │ ${Math.round(total() / 30)} +│`));
    await shows(terminal, '1 to 5 of 30');

    // The chosen day is inverted: its number below the bars and its name in the list; the mark stands above the number.
    const chosenIs = async (i: number, figure: string) => {
      await shows(terminal, `${named(i)}: ${figure}`);
      await waitUntil(`${named(i)} is the chosen day`, 15_000, () => {
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
    expect(terminal.cellOf(`${named(1)}  1,001`)).toMatchObject({ inverse: true });
    expect(terminal.cellOf(`${named(0)}      ${today}`)).toMatchObject({ inverse: false });
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

  test.each([
    ['q', 'q'],
    ['Esc', KEYS.escape],
    ['Ctrl-C', KEYS.interrupt],
  ])('%s leaves the terminal as it was, and no session', async (_, key) => {
    const before = await openSessions();
    const terminal = await opened();
    expect(await openSessions()).toBe(before + 1);
    terminal.type(key);
    expect(await terminal.exited).toBe(0);
    expect(terminal.bytes().startsWith(ENTER_SCREEN)).toBe(true);
    expect(terminal.bytes().endsWith(LEAVE_SCREEN)).toBe(true);
    expect(terminal.text().trim()).toBe('');
    // Nothing that would clear what was scrolled away before.
    expect(terminal.bytes()).not.toContain('\x1b[3J');
    expect(await openSessions()).toBe(before);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 2],
  ] as const)('%s leaves the terminal as it was', async (name, code) => {
    const terminal = await opened();
    terminal.signal(name);
    expect(await terminal.exited).toBe(code);
    expect(terminal.bytes()).toContain(LEAVE_SCREEN);
    expect(terminal.bytes().slice(terminal.bytes().indexOf(LEAVE_SCREEN) + LEAVE_SCREEN.length)).not.toContain('\x1b');
    expect(terminal.text().trim()).toBe(name === 'SIGINT' ? 'Cancelled; nothing was changed.' : '');
  });

  test('goes with the size of the terminal, and colours are the terminal’s own', async () => {
    const terminal = await opened({ columns: 100, rows: 30 });
    terminal.type(KEYS.left);
    await shows(terminal, `${named(1)}: 1,001 sign-ins`);
    const bars = line(terminal, /█/);
    expect(terminal.cellOf('█', bars)?.colour).toBe(6);

    await terminal.resize(40, 20);
    await shows(terminal, /│ Today +│ │ 30 days +│ │ A day +│/);
    await shows(terminal, `: 1,001`);
    expect(terminal.screen().join('\n')).not.toContain('Average');
    await terminal.resize(200, 50);
    // Chart and list beside each other, all days in sight.
    await shows(terminal, new RegExp(`Last 14 days .*${named(1)}: 1,001 sign-ins +All 30 days`));
    await shows(terminal, named(29));
    await terminal.resize(80, 10);
    await shows(terminal, `Today ${today} · Total, 30 days ${total().toLocaleString('en')} · Average a day ${Math.round(total() / 30)}`);
    expect(terminal.screen().join('\n')).not.toContain('All 30 days');
    terminal.type(KEYS.tab);
    await shows(terminal, '▸ All 30 days');
    terminal.type(KEYS.tab);
    await terminal.resize(100, 30);
    await shows(terminal, 'Average a day');
    expect(terminal.screen().join('\n').match(/Today/g)).toHaveLength(1);
    // 16 colours and no others.
    expect(terminal.bytes()).not.toMatch(/\[[\d;:]*[34]8[;:][\d;:]*m/);
  });

  test('NO_COLOR: no colours, and the chosen day is marked', async () => {
    const terminal = await opened({ env: { ...withPassword, NO_COLOR: '1' } });
    terminal.type(KEYS.left);
    await shows(terminal, `${named(1)}: 1,001 sign-ins`);
    await shows(terminal, `▸ ${named(1)}`);
    await shows(terminal, /─▲─/);
    terminal.type('q');
    await terminal.exited;
    // Nothing but the reset at the end.
    expect(terminal.bytes().match(/\[[\d;]*m/g)).toEqual(['[0m']);
  });

  test('--no-color, and a locale without UTF-8: nothing but ASCII', async () => {
    const terminal = await opened({ args: ['--no-color'], env: { ...withPassword, LANG: 'C' } });
    await shows(terminal, '####');
    await shows(terminal, /-\^-/);
    expect(terminal.screen().join('\n')).toMatch(/^[\x20-\x7e\n]*$/);
    expect(terminal.bytes()).not.toMatch(/\[[\d;]*m/);
  });

  test('a service that goes away is told, and r asks it again once it is back', async () => {
    const fleeting = await stage.start(production);
    const terminal = await opened({ env: { ...withPassword, EMAILAUTH_HOST: fleeting.url } });
    await fleeting.stop();
    terminal.type('r');
    await shows(terminal, 'The service cannot be reached. Press r to try again.');
    await shows(terminal, `${named(0)}: ${today} sign-ins`);
    await stage.start({ ...production, PORT: String(fleeting.port) });
    terminal.type('r');
    await shows(terminal, 'q quit');
    expect(terminal.screen().join('\n')).not.toContain('cannot be reached');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
  });

  test('a session that has ended is told, and r opens it again, unless the password was changed', async () => {
    const fleeting = await stage.start(production);
    const terminal = await opened({ env: { ...withPassword, EMAILAUTH_HOST: fleeting.url } });
    await stage.query('delete from admin_sessions');
    terminal.type('a');
    await shows(terminal, 'The admin session has ended. Press r to open it again.');
    expect(await openSessions()).toBe(0);
    terminal.type('r');
    await shows(terminal, 'q quit');
    expect(await openSessions()).toBe(1);

    await fleeting.stop();
    await stage.start({ ...production, PORT: String(fleeting.port), ADMIN_PASSWORD: 'another password for the tests' });
    terminal.type('r');
    await shows(terminal, 'The admin password was changed. Quit, and run `emailauth stats` again.');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
  });
});
