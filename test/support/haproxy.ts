import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, waitUntil } from './waiting.ts';

/** Whether HAProxy is installed. On Debian: apt-get install haproxy. */
export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;

/** A running HAProxy in front of two instances, `a` and `b`. */
export type Haproxy = {
  port: number;
  /** Resolves once HAProxy's checks report both instances as up. */
  bothUp(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts HAProxy with the configuration of docs/operations.md, on free ports.
 * @param pem certificate and key, for TLS
 */
export async function startHaproxy(ports: { a: number; b: number }, pem?: string): Promise<Haproxy> {
  const documentation = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const [documented, tlsLine] = [...documentation.matchAll(/```haproxy\n([\s\S]*?)```/g)].map(([, block]) => block);
  if (!documented || !tlsLine) throw new Error('docs/operations.md has no HAProxy configuration');
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-haproxy-'));
  const socket = join(directory, 'stats');
  const file = join(directory, 'haproxy.cfg');
  const certificate = join(directory, 'certificate.pem');
  if (pem) await writeFile(certificate, pem, { mode: 0o600 });
  const bind = tlsLine
    .trim()
    .replace(':443', `127.0.0.1:${port}`)
    .replace(/crt \S+/, `crt ${certificate}`);
  const configuration = documented
    .replace('bind :8080', pem ? bind : `bind 127.0.0.1:${port}`)
    .replace('127.0.0.1:4401', `127.0.0.1:${ports.a}`)
    .replace('127.0.0.1:4402', `127.0.0.1:${ports.b}`);
  await writeFile(file, `global\n  stats socket ${socket} mode 600 level user\n\n${configuration}`);

  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'exit');

  return {
    port,
    bothUp: () =>
      waitUntil('HAProxy reports both instances as up', 60_000, async () => {
        if (child.exitCode !== null) throw new Error(`HAProxy ended. It wrote:\n${output}`);
        const states = await serverStates(socket).catch(() => []);
        return (states.length === 2 && states.every((state) => state === 'UP')) || states.join();
      }),
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the state of each server from HAProxy's statistics in CSV: field 2 is the server, field 18 its state. */
async function serverStates(path: string): Promise<string[]> {
  const socket = connect(path);
  socket.end('show stat\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  const servers = text.split('\n').map((line) => line.split(','));
  return servers.filter(([proxy, name]) => proxy === 'emailauth' && name !== 'BACKEND').map((fields) => fields[17]);
}
