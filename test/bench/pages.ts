import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { SignInBoot } from '../../contract/pages.ts';
import { fontPreloads } from '../../server/pages/built-web.ts';
import { loadRenderer, signInDocument } from '../../server/pages/renderer.ts';
import { Client } from '../support/client.ts';
import { cpuMilliseconds } from '../support/server-cpu.ts';
import { median } from './measure.ts';
import { cpuSecondsOfTree } from './programs.ts';
import { compare, formatNumber, heading, row } from './report.ts';
import { type Contestant, registerWebsite, SITE, type Stage } from './stage.ts';

const MAX_RENDERING_MS = 0.3;
const AT_ONCE = 8;
/** The compiler of Node.js needs thousands of renderings until it has optimized the code, as in a service that runs for a minute. */
const RENDERINGS_PER_REQUEST = 5;

const webRoot = fileURLToPath(new URL('../../dist/web/', import.meta.url));

/** A page and the browser that opens it. `marker`: text that only this page has. */
type Page = { name: string; path: string; client: Client; marker: string };

/**
 * Prints the CPU time of the pages that the service renders: of rendering alone, by the renderer and the data of the real page, and
 * of whole requests, with everything that the service and PostgreSQL do for them.
 */
export async function measurePages(stage: Stage, { rounds, requests }: { rounds: number; requests: number }): Promise<void> {
  const service = await stage.start('service', await stage.createDatabase('service', 'pages'));
  await registerWebsite(service);
  const documentOf = signInDocument(readFileSync(`${webRoot}signin.html`, 'utf8'), fontPreloads(`${webRoot}assets`), loadRenderer(webRoot));
  heading('Pages, CPU ms of each', 'rendering', 'whole request', 'server', 'PostgreSQL', 'KiB');
  const results: [string, number][] = [];
  for (const page of await openPages(stage, service)) {
    const html = await read(page);
    const boot: SignInBoot = JSON.parse(/id="boot">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    const rendering = measureRendering(() => documentOf(boot), rounds, requests * RENDERINGS_PER_REQUEST);
    const { server, postgres } = await measureRequests(stage, service, page, rounds, requests);
    const size = Buffer.byteLength(html) / 1024;
    row(page.name, ...[rendering, server + postgres, server, postgres].map((ms) => formatNumber(ms, 2)), formatNumber(size, 1));
    results.push([page.name, rendering]);
  }
  for (const [name, ms] of results) compare(`CPU ms of rendering ${name}`, ms, 'at most', MAX_RENDERING_MS);
}

/** Returns the pages: those of step 2 and of the link belong to a sign-in that was requested. */
async function openPages(stage: Stage, { port }: Contestant): Promise<Page[]> {
  const newClient = () => new Client(`http://127.0.0.1:${port}`);
  const forward_url = `https://${SITE}/welcome`;
  const query = new URLSearchParams({ forward_url, language: 'lt' });
  const socket = connect(stage.linksPort, '127.0.0.1');
  await once(socket, 'connect');
  const [visitor, email] = [newClient(), 'visitor@mail.example'];
  const sent = await visitor.post('/api/auth/domain-auth', { email, forward_url, language: 'lt' });
  if (sent.status !== 200) throw new Error(`domain-auth returned ${sent.status}: ${sent.text}`);
  const [line] = await once(socket.setEncoding('latin1'), 'data');
  socket.destroy();
  const link = String(line).trim().split(' ')[1];
  return [
    { name: '/auth', path: '/auth', client: newClient(), marker: 'Sign in to Email Auth' },
    { name: '/domain-auth', path: `/domain-auth?${query}`, client: newClient(), marker: SITE },
    { name: 'the code step', path: `/auth?${query}&step=code`, client: visitor, marker: email },
    { name: 'the page of a link', path: link, client: newClient(), marker: 'v•••' },
  ];
}

async function read({ name, path, client, marker }: Page): Promise<string> {
  const { status, text } = await client.get(path);
  const [page] = text.split('id="boot"');
  if (status !== 200 || !page.includes(marker)) throw new Error(`${name} was not shown: ${status} ${text.slice(0, 200)}`);
  return text;
}

/** Returns the median CPU time of one rendering in ms, after a warm-up. */
function measureRendering(render: () => string, rounds: number, count: number): number {
  const round = () => {
    const before = process.cpuUsage();
    for (let n = 0; n < count; n++) render();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / count;
  };
  round();
  return median(Array.from({ length: rounds }, round));
}

/** Returns the median CPU time of one request in ms, after a warm-up. */
async function measureRequests(stage: Stage, { program }: Contestant, page: Page, rounds: number, count: number) {
  const each = Array.from({ length: AT_ONCE }, () => count / AT_ONCE);
  const measured: { server: number; postgres: number }[] = [];
  for (let n = 0; n <= rounds; n++) {
    const [server, postgres] = [await cpuMilliseconds(program.pid), await cpuSecondsOfTree(stage.postgres)];
    await Promise.all(
      each.map(async (requests) => {
        for (let left = requests; left > 0; left--) await read(page);
      }),
    );
    const used = { server: (await cpuMilliseconds(program.pid)) - server, postgres: (await cpuSecondsOfTree(stage.postgres)) - postgres };
    measured.push({ server: used.server / count, postgres: (used.postgres * 1000) / count });
  }
  const [, ...rest] = measured;
  return { server: median(rest.map(({ server }) => server)), postgres: median(rest.map(({ postgres }) => postgres)) };
}
