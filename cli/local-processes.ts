import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { isThisMachine } from '../contract/urls.ts';
import { type AppCommand, readEnvFile } from './app-sources.ts';
import type { Context } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Environment } from './installation.ts';
import { claimPort, freePort, isFree } from './ports.ts';
import { lastLines, type ProcessGroup, runProgram, startGroup } from './process-group.ts';

/** An app that runs for a check. */
export type RunningApp = {
  /** Its origin, such as `http://localhost:5173`. */
  url: string;
  output(): string;
  /** Ends the app and all that it has started. */
  stop(): Promise<void>;
};

type AppOptions = {
  root: string;
  command: AppCommand;
  /** Where the app listens, when it is known. */
  url?: string;
  /** Origin of the service. */
  service: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
};

const START_TIMEOUT_MS = 120_000;
const BUILD_TIMEOUT_MS = 10 * 60_000;
const POLL_MS = 100;
/** After this time an app that has named no address is searched at the usual ports. */
const NAMED_MS = 3_000;
/** Time limit for the port of a stopped app to become free. */
const RELEASE_MS = 3_000;
const USUAL_PORTS = [3000, 8080, 8000, 5000, 5173, 4321, 8787, 4567, 4000];
const MAX_STARTS = 3;
const MAX_SHOWN_LINES = 20;

/**
 * Starts an app with the settings of its `.env`, and with SITE_URL, EMAILAUTH_URL and PORT that agree with where it listens: an app
 * that takes another port is started again with that one in SITE_URL.
 * @throws CommandError app_failed with its output when its build fails, when it ends or does not respond
 */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const file = readEnvFile(options.root);
  if (options.command.build) await build(options.command.build, options, file);
  let url = options.url ?? `http://localhost:${await preferredPort(file.SITE_URL, options.service)}`;
  for (let starts = 1; ; starts++) {
    const taken = await takenPorts();
    const group = await startGroup(withPort(options.command.run, url), { cwd: options.root, env: environmentOf(options, file, url) });
    try {
      const found = await findUrl(group, url, taken, options);
      if (found === url || options.url || starts === MAX_STARTS) return { url: found, output: group.output, stop: group.stop };
      await group.stop();
      // What still listens there is another program, which was started after the app.
      if (await getsFree(Number(new URL(found).port))) url = found;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }
}

function environmentOf({ env, service }: AppOptions, file: Environment, url: string): Record<string, string | undefined> {
  const { port } = new URL(url);
  return {
    SESSION_SECRET: randomBytes(32).toString('hex'),
    ...file,
    ...env,
    EMAILAUTH_URL: service,
    SITE_URL: url,
    PORT: port || '80',
    NO_COLOR: '1',
    // Development servers would open a browser.
    BROWSER: 'none',
  };
}

const withPort = (run: AppCommand['run'], url: string): AppCommand['run'] => {
  const { port } = new URL(url);
  const fill = (text: string) => text.replaceAll('{port}', port || '80');
  return typeof run === 'string' ? fill(run) : [fill(run[0]), ...run.slice(1).map(fill)];
};

async function build(command: readonly [string, ...string[]], options: AppOptions, file: Environment): Promise<void> {
  const env = environmentOf(options, file, options.url ?? 'http://localhost:4000');
  const { root, signal } = options;
  const { ok, timedOut, output } = await runProgram(command, { cwd: root, env, signal, timeoutMs: BUILD_TIMEOUT_MS });
  signal.throwIfAborted();
  // The checks would run against the code of an earlier build.
  if (timedOut) throw await appFailed(`The build did not end within ${BUILD_TIMEOUT_MS / 60_000} minutes.`, output);
  if (!ok) throw await appFailed('The build failed.', output);
}

/** Returns the port of SITE_URL if it is on this machine, free, and not that of another app that `emailauth` starts; else a free one. */
async function preferredPort(siteUrl: string | undefined, service: string): Promise<number> {
  if (siteUrl && URL.canParse(siteUrl)) {
    const { hostname, port, origin } = new URL(siteUrl);
    const isUsable = hostname === 'localhost' && port && origin !== service && claimPort(Number(port));
    if (isUsable && (await isFree(Number(port)))) return Number(port);
  }
  return freePort();
}

/** Whether a port becomes free within RELEASE_MS: killed programs need a moment to end. */
async function getsFree(port: number): Promise<boolean> {
  const end = Date.now() + RELEASE_MS;
  while (Date.now() < end) {
    if (await isFree(port)) return true;
    await pause();
  }
  return false;
}

async function takenPorts(): Promise<Set<number>> {
  const free = await Promise.all(USUAL_PORTS.map(isFree));
  return new Set(USUAL_PORTS.filter((_, i) => !free[i]));
}

/** Waits until the app responds, and returns its origin. */
async function findUrl(group: ProcessGroup, expected: string, taken: ReadonlySet<number>, options: AppOptions): Promise<string> {
  const { signal } = options;
  const start = Date.now();
  // A program that has the port may accept connections and never respond.
  const ended = new AbortController();
  const watch = setInterval(() => group.hasEnded() && ended.abort(), POLL_MS);
  try {
    while (Date.now() < start + START_TIMEOUT_MS) {
      signal.throwIfAborted();
      if (group.hasEnded()) throw await appFailed('The app ended before it responded.', group.output());
      for (const url of candidates(group, expected, taken, Date.now() - start, options)) {
        // Another program may respond there, while the app ends because its port is taken.
        if ((await responds(url, AbortSignal.any([signal, ended.signal]))) && (await isStillRunning(group))) return url;
        if (group.hasEnded()) break;
      }
      await pause();
    }
  } finally {
    clearInterval(watch);
  }
  throw await appFailed(`The app did not respond within ${START_TIMEOUT_MS / 1000} s.`, group.output());
}

/** Returns the addresses at which the app may respond, the most likely one first. */
function candidates(
  group: ProcessGroup,
  expected: string,
  taken: ReadonlySet<number>,
  elapsedMs: number,
  { url, service }: AppOptions,
): Iterable<string> {
  if (url) return [url];
  const named = addressesIn(group.output()).filter((each) => each !== service && !taken.has(Number(new URL(each).port)));
  const usual = USUAL_PORTS.filter((port) => elapsedMs > NAMED_MS && !taken.has(port)).map((port) => `http://localhost:${port}`);
  return new Set([...named, expected, ...usual]);
}

async function isStillRunning(group: ProcessGroup): Promise<boolean> {
  for (let i = 0; i < 3 && !group.hasEnded(); i++) await pause();
  return !group.hasEnded();
}

/** Returns the origins on this machine that a program named in its output, the first one first. */
export function addressesIn(output: string): string[] {
  const text = stripVTControlCharacters(output);
  const urls = [...text.matchAll(/https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})/gi)].map(([url, port]) => ({
    port,
    scheme: url.startsWith('https') ? 'https' : 'http',
  }));
  const ports = [...text.matchAll(/\bport:?\s+:?(\d{2,5})\b/gi)].map(([, port]) => ({ port, scheme: 'http' }));
  return [...urls, ...ports].filter(({ port }) => Number(port) < 65_536).map(({ port, scheme }) => `${scheme}://localhost:${port}`);
}

async function responds(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    // A development server compiles the page before it responds.
    const limit = AbortSignal.any([signal, AbortSignal.timeout(30_000)]);
    const response = await fetch(url, { redirect: 'manual', signal: limit });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

async function appFailed(message: string, written: string): Promise<CommandError> {
  const output = lastLines(written, MAX_SHOWN_LINES);
  const ports = addressesIn(output).map((url) => Number(new URL(url).port));
  const free = await Promise.all(ports.map(isFree));
  const hint =
    /EADDRINUSE|address already in use/i.test(output) || free.includes(false)
      ? 'Its port is taken: stop the program that listens there. If that is the service, start it at another port: `emailauth start --port 4401`, and name it with --host http://localhost:4401.'
      : 'Give the command that starts it with --command, or start it yourself and give its address with --url.';
  return new CommandError(EXIT.failure, 'app_failed', output ? `${message} It wrote:\n${output}` : message, hint);
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** A service in local mode whose inbox this machine can read. */
type LocalService = {
  origin: string;
  /** Ends a service that was started here, and removes its data. */
  close(): Promise<void>;
};

const INBOX_POLL_MS = 200;

/**
 * Returns the service in use when it is in local mode with an inbox on this machine; otherwise starts one on a free port, with
 * data of its own.
 * @throws CommandError not_local for a service that `--host` names and that is none; unreachable when none can be started
 */
export async function openLocalService(context: Context): Promise<LocalService> {
  const { hasInbox } = await import('../diagnostics/inbox.ts');
  const { value: host, source } = await context.settings.host();
  if (isThisMachine(new URL(host).hostname) && (await hasInbox(host, context.signal))) {
    return { origin: host, close: async () => {} };
  }
  if (source === 'flag') {
    const hint = 'Start one with `emailauth start`, without SMTP_URL; without --host, `emailauth try` starts one itself.';
    throw new CommandError(EXIT.unreachable, 'not_local', `${host} is not a service in local mode with an inbox on this machine.`, hint);
  }
  context.terminal.note(`No local service responds at ${host}; starting one for this check…`);
  return startService(context);
}

async function startService({ env, signal }: Context): Promise<LocalService> {
  const { hasInbox } = await import('../diagnostics/inbox.ts');
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-try-'));
  // When run by root, the embedded PostgreSQL in it runs as another user.
  await chmod(directory, 0o711);
  const origin = `http://localhost:${await freePort()}`;
  const group = await startGroup([process.execPath, process.argv[1], 'start'], { env: serviceEnvironment(env, origin, directory) });
  const close = async () => {
    await group.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const end = Date.now() + START_TIMEOUT_MS;
    while (!(await hasInbox(origin, signal))) {
      if (group.hasEnded() || Date.now() > end) throw notStarted(lastLines(group.output(), 20));
      await new Promise((resolve) => setTimeout(resolve, INBOX_POLL_MS));
    }
    return { origin, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The settings of another service, such as its database, must not be used. */
function serviceEnvironment(env: Context['env'], origin: string, directory: string): Record<string, string | undefined> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'USERPROFILE', 'SystemRoot', 'XDG_DATA_HOME', 'npm_config_cache'];
  const own = { PORT: new URL(origin).port, HOST: '127.0.0.1', PUBLIC_URL: origin, DATA_DIR: directory, DRAIN_SECONDS: '0' };
  return { ...Object.fromEntries(kept.map((name) => [name, env[name]])), ...own };
}

function notStarted(output: string): CommandError {
  const hint = 'Start one in another terminal with `emailauth start`, and run this again.';
  return new CommandError(
    EXIT.unreachable,
    'unreachable',
    `No local service could be started.${output ? ` It wrote:\n${output}` : ''}`,
    hint,
  );
}
