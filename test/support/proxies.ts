import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from './waiting.ts';

/** A reverse proxy that runs with a configuration of the documentation. */
export type ReverseProxy = 'nginx' | 'caddy';

/** Returns whether a proxy is installed. On Debian: apt-get install nginx-core caddy. */
export const hasProxy = (name: ReverseProxy) => spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0;

/**
 * Starts a proxy with its configuration in a page of docs/, which has one.
 * @param replacements of the documented texts, by what they replace
 * @param http2Port for HTTP/2 without TLS. Caddy has it on all ports of its configuration.
 * @returns a function that ends it
 */
export async function startProxy(
  name: ReverseProxy,
  page: string,
  port: number,
  replacements: Record<string, string>,
  http2Port?: number,
): Promise<() => Promise<void>> {
  const text = await readFile(join(import.meta.dirname, '../../docs', page), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${name === 'caddy' ? 'caddyfile' : name}\n([\\s\\S]*?)\`\`\``, 'g'))];
  if (blocks.length !== 1) throw new Error(`docs/${page} has ${blocks.length} configurations of ${name}`);
  const [[, block]] = blocks;
  const documented = Object.entries(replacements).reduce((text, [from, to]) => text.replaceAll(from, to), block);
  const directory = await mkdtemp(join(tmpdir(), `emailauth-${name}-`));
  const file = join(directory, name);
  await writeFile(file, name === 'nginx' ? nginxFile(directory, port, documented, http2Port) : `${CADDY_OPTIONS}\n${documented}`);
  const args = name === 'nginx' ? ['-c', file, '-e', 'stderr'] : ['run', '--adapter', 'caddyfile', '--config', file];
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: directory } });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'exit');
  await waitUntil(`${name} accepts connections`, 60_000, () => {
    if (child.exitCode !== null) throw new Error(`${name} ended. It wrote:\n${output}`);
    return accepts(port);
  });
  return async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
}

const CADDY_OPTIONS = '{\n\tadmin off\n\tauto_https off\n\tservers {\n\t\tprotocols h1 h2c\n\t}\n}';

const nginxFile = (
  directory: string,
  port: number,
  server: string,
  http2Port?: number,
) => `daemon off; pid ${directory}/pid; worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    ${http2Port === undefined ? '' : `listen 127.0.0.1:${http2Port} http2;`}
    ${server}
  }
}
`;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
