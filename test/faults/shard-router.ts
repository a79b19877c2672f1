import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mailboxOf } from '../../contract/emails.ts';
import { Client, type HttpResponse } from '../support/client.ts';
import type { Service } from '../support/harness.ts';

/** Remembers in a browser which shard has its attempt. */
const COOKIE = 'shard';

/** Returns the number of the shard that has the rows of a mailbox. */
export function shardOf(email: string, count: number): number {
  return createHash('sha256').update(mailboxOf(email)).digest()[0] % count;
}

/** A reverse proxy in front of services that each have a database of their own, as docs/scaling.md describes it. */
export type ShardRouter = { port: number; listen(services: Service[]): void; close(): Promise<void> };

/** Opens the port, which the services need as PUBLIC_URL before they start. */
export async function openShardRouter(): Promise<ShardRouter> {
  let services: Service[] = [];
  const server = createServer((request, response) => {
    void route(services, request, response).catch((error) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    listen: (given) => {
      services = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function route(services: Service[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const forward = async (shard: number) => {
    const { host: _, connection: __, ...headers } = request.headers;
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const client = new Client(`http://localhost:${services[shard].port}`);
    const sent = { method: request.method, headers: { ...given, Host: request.headers.host ?? '' } };
    return client.send(request.url ?? '/', body.length > 0 ? { ...sent, body } : sent);
  };
  const { pathname } = new URL(request.url ?? '/', 'http://router');
  if (pathname === '/api/verify-token') return answer(response, await firstKnown(services, forward));
  const email = pathname === '/api/auth/domain-auth' ? String(JSON.parse(body.toString()).email) : null;
  const [, known = '0'] = /(?:^|; )shard=(\d+)/.exec(request.headers.cookie ?? '') ?? [];
  const shard = email === null ? Number(known) : shardOf(email, services.length);
  answer(response, await forward(shard), `${COOKIE}=${shard}; Path=/; HttpOnly; SameSite=Lax`);
}

/** A token is random, so at most one shard knows it, and only that one can use it up. */
async function firstKnown(services: Service[], forward: (shard: number) => Promise<HttpResponse>): Promise<HttpResponse> {
  const responses = await Promise.all(services.map((_, shard) => forward(shard)));
  return responses.find(({ json }) => json.valid || json.reason !== 'unknown') ?? responses[0];
}

function answer(response: ServerResponse, { status, headers, text }: HttpResponse, cookie?: string): void {
  const { 'transfer-encoding': _, 'content-length': __, ...kept } = headers;
  const cookies = [...(headers['set-cookie'] ?? []), ...(cookie ? [cookie] : [])];
  response.writeHead(status, { ...kept, 'set-cookie': cookies }).end(text);
}
