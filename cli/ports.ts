import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './process-group.ts';

/** Returns a TCP port of this machine on which nothing listens. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Returns whether nothing listens on a TCP port of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    // On all addresses, so that it fails where a program listens on one of them.
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

/**
 * Claims a free port for an app that is started next, until this process ends, so that two processes of `emailauth` do not start
 * their apps at one port. Each writes a file with its process id first and then looks for those of others.
 * @returns false when another running process has the claim
 */
export function claimPort(port: number): boolean {
  const prefix = `emailauth-port-${port}-`;
  const file = join(tmpdir(), `${prefix}${process.pid}`);
  const remove = () => rmSync(file, { force: true });
  try {
    // Not through a link that another user has put there.
    writeFileSync(file, '', { flag: 'wx' });
  } catch {
    // An earlier process with this id has left it, or nothing can be written there: the app is started without a claim then.
  }
  const pids = readdirSync(tmpdir()).flatMap((name) => (name.startsWith(prefix) ? [Number(name.slice(prefix.length))] : []));
  const isClaimed = pids.some((pid) => pid !== process.pid && isRunning(pid));
  if (isClaimed) remove();
  else process.once('exit', remove);
  return !isClaimed;
}

/** Matches a port in a script of package.json: an option of its program, or the variable. */
const PORT_IN_SCRIPT = /(?:^|\s)(?:-p|--port)[ =](\d{2,5})\b|\bPORT=(\d{2,5})\b/;
/** Matches a command whose program takes `--port`. */
const TAKES_PORT = /(?:^|[\s/])(?:next (?:dev|start)|nuxt dev|nuxi dev|astro dev|react-router dev|fastify start|wrangler dev|vite)(?=\s|$)/;
/** The last one of several such options applies to these programs. */
const TAKES_LAST_PORT = /(?:^|[\s/])(?:next|nuxt|nuxi|astro|vite) /;

/** Returns the port that a script of package.json sets; undefined when it sets none. */
export function portInScript(script: string | undefined): number | undefined {
  const match = PORT_IN_SCRIPT.exec(script ?? '');
  const port = Number(match?.slice(1).find(Boolean));
  return port > 0 && port < 65_536 ? port : undefined;
}

/** Returns whether `--port` at the end of a script determines the port at which the app listens. */
export function takesPort(script: string): boolean {
  const last = script.split(/[&|;]/).at(-1) ?? '';
  const isFixed = portInScript(script) !== undefined && (!TAKES_LAST_PORT.test(last) || script.includes('PORT='));
  return TAKES_PORT.test(last) && !isFixed;
}

/**
 * Matches a port in code, in one of its groups: `const port = 3000`, `process.env.PORT || 3000`, `listen({ port: 3000`,
 * `app.run(port=5000)`, `set :port, 4567`, `app.listen(3000`, `ListenAndServe(":8080"`, `Addr: ":8080"`.
 */
const PORT_IN_CODE =
  /\bport\b[\w."'\])]{0,40}\s{0,40}(?:=|:|\|\||\?\?)[^\n\d;]{0,60}\b(\d{4,5})\b|\bport["']?, *["']?(\d{4,5})\b|\blisten\(\s*(\d{4,5})\b|\b(?:ListenAndServe|Listen|Run|Start)\("[^"\n]{0,60}:(\d{4,5})"|\bAddr: *"[^"\n]{0,60}:(\d{4,5})"/gi;
/** Matches `process.env.PORT`, `os.environ.get("PORT"`, `os.Getenv("PORT")`, `ENV.fetch("PORT"`, `{ PORT = 3000 } = process.env`. */
const READS_PORT =
  /\b(?:process\.env|Bun\.env|os\.environ|getenv|ENV)\b[^\w\n;]{0,3}(?:(?:get|fetch)\(["'])?PORT\b|\bPORT\b[^\n;]{0,20}\} *= *process\.env\b/i;

/** Returns the first port that a source file sets; undefined when it sets none. */
export function portInSource(text: string): number | undefined {
  const port = Number(text.matchAll(PORT_IN_CODE).next().value?.slice(1).find(Boolean));
  return port > 0 && port < 65_536 ? port : undefined;
}

/** Returns whether a source file takes its port from the variable PORT. */
export const readsPort = (text: string): boolean => READS_PORT.test(text);
