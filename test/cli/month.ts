// A stage of its own: it counts the sign-ins and the sessions of the whole service.
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, visitorToken } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export const PASSWORD = production.ADMIN_PASSWORD;
export const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l';
export const LEAVE_SCREEN = '\x1b[?25h\x1b[?1049l';

export let stage: Stage;
export let service: Service;
let home: Home;
let site: string;
/** The last 30 UTC days as YYYY-MM-DD, newest first. */
export let dates: string[];
/** Sign-ins of today, and of the days before. */
export let today: number;
export const past = Array.from({ length: 29 }, (_, i) => (i + 1 === 5 ? 0 : 1001 + i));
export const total = () => past.reduce((sum, count) => sum + count, today);
const terminals: Terminal[] = [];

/** Starts a service with a month of sign-ins. For beforeAll. */
export async function openMonth(): Promise<void> {
  stage = await openStage();
  service = await stage.start(production);
  home = await openHome(service.url);
  today = 4;
  // A past month and four sign-ins of today: one to the portal, three to a website.
  await stage.query(`insert into daily_logins select (now() at time zone 'utc')::date - n, case when n = 5 then 0 else 1000 + n end
    from generate_series(1, 29) n`);
  site = await addWebsite(stage, service);
  for (let i = 0; i < 3; i++) await visitorToken(stage, service.client(), site);
  await countNow(stage);
  dates = (await stage.query("select ((now() at time zone 'utc')::date - n)::text as date from generate_series(0, 29) n")).map(({ date }) =>
    String(date),
  );
}

/** For beforeEach. */
export const forgetLimits = () => stage.query('truncate rate_limits');

/** For afterEach. */
export async function closeTerminals(): Promise<void> {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
}

/** For afterAll. */
export async function closeMonth(): Promise<void> {
  await home?.close();
  await stage.close();
}

export const withPassword = { EMAILAUTH_ADMIN_PASSWORD: PASSWORD };
export const run = (args: string[], env: Record<string, string> = withPassword) => home.run(['stats', ...args], { env });
export async function signIn(): Promise<void> {
  await visitorToken(stage, service.client(), site);
  await countNow(stage);
  today++;
}
export const openSessions = async () => Number((await stage.query('select count(*) as many from admin_sessions'))[0].many);

type Opening = { args?: string[]; columns?: number; rows?: number; env?: Record<string, string>; from?: Home };

/** Runs the command in a terminal. @param start spawnTerminal, for the colors that Ink chooses when a process starts */
export function open({ args = [], from = home, env = withPassword, ...size }: Opening = {}, start = openTerminal): Terminal {
  const terminal = start(from, ['stats', ...args], { ...size, env });
  terminals.push(terminal);
  return terminal;
}

/** Opens the screen and waits for the statistics. */
export async function opened(options?: Opening, start = openTerminal): Promise<Terminal> {
  const terminal = open(options, start);
  await terminal.waitFor('? help');
  await terminal.waitFor(/\d\d:\d\d:\d\d/);
  return terminal;
}

const WEEKDAY = new Intl.DateTimeFormat('en-US', { weekday: 'short', timeZone: 'UTC' });
const MONTH = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' });
/** Returns a day as the screen shows it. */
export function named(i: number): string {
  const time = new Date(`${dates[i]}T00:00:00Z`);
  return `${WEEKDAY.format(time)} ${dates[i].slice(8)} ${MONTH.format(time)} ${dates[i].slice(0, 4)}`;
}
export const numberOf = (i: number) => dates[i].slice(8);
/** Waits until the visible screen contains a text. */
export const shows = (terminal: Terminal, text: string | RegExp) =>
  waitUntil(`the screen shows ${text}`, 30_000, () => {
    const screen = terminal.screen().join('\n');
    return (typeof text === 'string' ? screen.includes(text) : text.test(screen)) || `it shows:\n${screen}`;
  });
/** Waits until the visible screen does not contain a text. */
export const lacks = (terminal: Terminal, text: string) =>
  waitUntil(`the screen lacks ${text}`, 45_000, () => !terminal.screen().join('\n').includes(text) || terminal.screen().join('\n'));
export const line = (terminal: Terminal, text: string | RegExp) => terminal.screen().findIndex((each) => each.match(text));
