import { createHash, randomBytes } from 'node:crypto';
import { calls } from '../../contract/calls.ts';
import { Client } from '../support/client.ts';
import { pngOfBytes, refusedFiles } from '../support/images.ts';
import { type HostileRequest, type InputKind, inputKinds, probesOf, sendHostile, sizeOf } from '../support/input-probes.ts';
import { query } from '../support/postgres.ts';
import { cpuMilliseconds } from '../support/server-cpu.ts';
import type { Contestant, Stage } from './stage.ts';

const EMAIL = 'bench@mail.example';
/** How often each request is sent; the first one warms up. Requests with headers are many and cost about the same. */
const ROUNDS = { headers: 1, others: 3 };
const PARTS = [0.25, 1] as const;

/** CPU time of the service in microseconds per KB of input, and that of the most expensive request in ms. */
type Cost = { perKb: number; maxMs: number };

/**
 * Prints the CPU time that hostile input costs the service as a Markdown table: every route and kind of input, at a quarter of
 * the maximum size and at the maximum. Where time grows linearly the second number is not higher than the first.
 */
export async function measureInput(stage: Stage): Promise<void> {
  const service = await stage.start('service', await stage.createDatabase('service', 'input'));
  const client = await signedIn(service);
  const costs = new Map<string, Map<InputKind, Cost[]>>();
  for (const part of PARTS) {
    for (const { target, kind, requests } of probesOf(part)) {
      const ofTarget = costs.get(target) ?? new Map<InputKind, Cost[]>();
      costs.set(
        target,
        ofTarget.set(kind, [
          ...(ofTarget.get(kind) ?? []),
          await costOf(service, client, requests, kind === 'headers' ? ROUNDS.headers : ROUNDS.others),
        ]),
      );
    }
  }
  const kinds = inputKinds.filter((kind) => [...costs.values()].some((ofTarget) => ofTarget.has(kind)));
  console.log(`\n## Input: CPU of the service, µs per KB at a quarter of the maximum size → at the maximum\n`);
  console.log(`| route | ${kinds.join(' | ')} | most expensive request, ms |`);
  console.log(`|---|${kinds.map(() => '--:|').join('')}--:|`);
  const order = [...new Set(Object.values(calls).map(({ method, path }) => `${method} ${path}`)), ...costs.keys()];
  for (const target of new Set(order)) {
    const ofTarget = costs.get(target);
    if (!ofTarget) continue;
    const cells = kinds.map((kind) => (ofTarget.get(kind) ?? []).map(({ perKb }) => Math.round(perKb)).join(' → '));
    const maxMs = Math.max(...[...ofTarget.values()].flat().map(({ maxMs }) => maxMs));
    console.log(`| \`${target.replace('0198c0de-0000-7000-8000-000000000000', '{id}')}\` | ${cells.join(' | ')} | ${maxMs.toFixed(1)} |`);
  }
  // The requests above used up the hourly rate limit of uploads.
  await query(service.databaseUrl, 'delete from rate_limits');
  await measureImages(service, client);
  await service.program.stop();
}

async function costOf({ program }: Contestant, client: Client, requests: HostileRequest[], rounds: number): Promise<Cost> {
  const anonymous = new Client(client.origin);
  let [ms, bytes, maxMs] = [0, 0, 0];
  for (const request of requests) {
    // The minimum excludes the timers of the service.
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      const before = await cpuMilliseconds(program.pid);
      const status = await sendHostile(client, anonymous, request);
      if (status >= 500) throw new Error(`${request.method} ${request.path.slice(0, 60)} (${request.what}) returned ${status}`);
      if (round > 0 || rounds === 1) least = Math.min(least, (await cpuMilliseconds(program.pid)) - before);
    }
    ms += least;
    bytes += sizeOf(request);
    maxMs = Math.max(maxMs, least);
  }
  return { perKb: (ms * 1000) / (bytes / 1024), maxMs };
}

/** Prints the CPU time of uploaded images, which are decoded outside of the event loop. */
async function measureImages({ program }: Contestant, client: Client): Promise<void> {
  console.log('\n| uploaded file | KB | CPU of the service, ms |\n|---|--:|--:|');
  for (const [what, bytes] of [...(await refusedFiles()), ['a PNG of 5 MB', pngOfBytes(5 * 1024 * 1024)] as const]) {
    const { json } = await client.post('/api/objects/upload');
    const before = await cpuMilliseconds(program.pid);
    await client.send(json.uploadURL, { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: bytes });
    const ms = (await cpuMilliseconds(program.pid)) - before;
    console.log(`| ${what} | ${(bytes.length / 1024).toFixed(1)} | ${ms.toFixed(1)} |`);
  }
}

/** Returns a client with a session that is inserted into the database. */
async function signedIn({ databaseUrl, port }: Contestant): Promise<Client> {
  const secret = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(secret).digest('hex');
  await query(
    databaseUrl,
    `with person as (insert into users (id, email) values (gen_random_uuid(), '${EMAIL}') returning id)
     insert into sessions (hash, user_id, expires_at) select '\\x${hash}', id, now() + interval '1 day' from person`,
  );
  const client = new Client(`http://127.0.0.1:${port}`);
  client.cookies.set('sid', secret);
  return client;
}
