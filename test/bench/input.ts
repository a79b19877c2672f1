import { createHash, randomBytes } from 'node:crypto';
import { routes } from '../../contract/routes.ts';
import { Client } from '../client.ts';
import { pngOfBytes, refusedFiles } from '../images.ts';
import { type HostileRequest, type InputKind, inputKinds, probesOf, sendHostile, sizeOf } from '../input-probes.ts';
import { query } from '../postgres.ts';
import { cpuMilliseconds } from '../server-cpu.ts';
import type { Contestant, Stage } from './stage.ts';

const EMAIL = 'bench@mail.example';
/** How often each request is sent; the first one warms up. The headers are many, and all cost much the same. */
const ROUNDS = { headers: 1, others: 3 };
const PARTS = [0.25, 1] as const;

/** CPU time of the service in microseconds per KB of input, and the dearest request in ms. */
type Cost = { perKb: number; dearestMs: number };

/**
 * What hostile input costs the service, as a Markdown table: every address and kind of input, at a quarter of the largest size
 * and at the largest. Where time grows linearly the second figure is no higher than the first.
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
  console.log(`\n## Input: CPU of the service, µs per KB at a quarter of the largest size → at the largest\n`);
  console.log(`| address | ${kinds.join(' | ')} | dearest request, ms |`);
  console.log(`|---|${kinds.map(() => '--:|').join('')}--:|`);
  const order = [...new Set(Object.values(routes).map(({ method, path }) => `${method} ${path}`)), ...costs.keys()];
  for (const target of new Set(order)) {
    const ofTarget = costs.get(target);
    if (!ofTarget) continue;
    const cells = kinds.map((kind) => (ofTarget.get(kind) ?? []).map(({ perKb }) => Math.round(perKb)).join(' → '));
    const dearest = Math.max(...[...ofTarget.values()].flat().map(({ dearestMs }) => dearestMs));
    console.log(`| \`${target.replace('0198c0de-0000-7000-8000-000000000000', '{id}')}\` | ${cells.join(' | ')} | ${dearest.toFixed(1)} |`);
  }
  // The requests above have used up the uploads of an hour.
  await query(service.databaseUrl, 'delete from rate_limits');
  await measureImages(service, client);
  await service.program.stop();
}

async function costOf({ program }: Contestant, client: Client, requests: HostileRequest[], rounds: number): Promise<Cost> {
  const stranger = new Client(client.origin);
  let [ms, bytes, dearestMs] = [0, 0, 0];
  for (const request of requests) {
    // The least one leaves the service's own timers out.
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      const before = await cpuMilliseconds(program.pid);
      const status = await sendHostile(client, stranger, request);
      if (status >= 500) throw new Error(`${request.method} ${request.path.slice(0, 60)} (${request.what}) answered ${status}`);
      if (round > 0 || rounds === 1) least = Math.min(least, (await cpuMilliseconds(program.pid)) - before);
    }
    ms += least;
    bytes += sizeOf(request);
    dearestMs = Math.max(dearestMs, least);
  }
  return { perKb: (ms * 1000) / (bytes / 1024), dearestMs };
}

/** Images are decoded outside of the event loop, one at a time. */
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

/** A client with a session, entered into the database as a sign-in would have done. */
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
