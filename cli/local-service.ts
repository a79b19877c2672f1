import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isThisMachine } from '../contract/rules.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './exit.ts';
import { freePort } from './ports.ts';
import { lastLines, startGroup } from './process-group.ts';

/** A service in local mode whose inbox this machine can read. */
export type LocalService = {
  origin: string;
  /** Whether it was started for this command. */
  isOwn: boolean;
  /** Ends a service that was started here, and removes its data. */
  close(): Promise<void>;
};

const START_TIMEOUT_MS = 120_000;
const POLL_MS = 200;

/**
 * Returns the service in use when it is in local mode with an inbox on this machine; otherwise starts one on a free port, with
 * data of its own.
 * @throws CommandError not_local for a service that `--host` names and that is none; unreachable when none can be started
 */
export async function openLocalService(context: Context): Promise<LocalService> {
  const { hasInbox } = await import('../diagnostics/inbox.ts');
  const { value: host, source } = await context.settings.host();
  if (isThisMachine(new URL(host).hostname) && (await hasInbox(host, context.signal))) {
    return { origin: host, isOwn: false, close: async () => {} };
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
  const group = startGroup([process.execPath, process.argv[1], 'start'], { env: serviceEnvironment(env, origin, directory) });
  const close = async () => {
    await group.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const end = Date.now() + START_TIMEOUT_MS;
    while (!(await hasInbox(origin, signal))) {
      if (group.hasEnded() || Date.now() > end) throw notStarted(lastLines(group.output(), 20));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return { origin, isOwn: true, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The settings of another service, such as its database, must not be used. */
function serviceEnvironment(env: Context['env'], origin: string, directory: string): Record<string, string | undefined> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'USERPROFILE', 'SystemRoot', 'npm_config_cache'];
  const own = { PORT: new URL(origin).port, HOST: '127.0.0.1', PUBLIC_URL: origin, DATA_DIR: directory, DRAIN_SECONDS: '0' };
  return { ...Object.fromEntries(kept.map((name) => [name, env[name]])), ...own };
}

function notStarted(output: string): CommandError {
  const hint = 'Start one in another terminal with `npx emailauth start`, and run this again.';
  return new CommandError(
    EXIT.unreachable,
    'unreachable',
    `No local service could be started.${output ? ` It wrote:\n${output}` : ''}`,
    hint,
  );
}
