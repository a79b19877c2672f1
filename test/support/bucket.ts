import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

const NAME = 'icons';
// The only key pair that s3rver accepts.
const KEY = 'S3RVER';
const REGION = 'eu-test-1';

export type TestBucket = {
  /** The S3_ settings of a service that uses the bucket. */
  settings: Record<string, string>;
  /** Accepted requests, as `METHOD key`. */
  requests: string[];
  /** `failing` returns 500, `silent` does not respond. */
  mode: 'serving' | 'failing' | 'silent';
  close(): Promise<void>;
};

/** Starts an S3-compatible server with one bucket. It rejects requests without an AWS Signature Version 4 over the body. */
export async function openBucket(): Promise<TestBucket> {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-bucket-'));
  const store = new S3rver({ silent: true, vhostBuckets: false, directory, configureBuckets: [{ name: NAME }] });
  await store.configureBuckets();
  const behind = createServer(store.callback());
  const server = createServer(async (request, response) => {
    if (bucket.mode === 'silent') return;
    if (bucket.mode === 'failing') return void response.writeHead(500).end('not now');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (!isSigned(request, body)) return void response.writeHead(403).end('SignatureDoesNotMatch');
    bucket.requests.push(`${request.method} ${request.url?.replace(`/${NAME}/`, '')}`);
    const passed = Object.entries(request.headers).filter(([name]) => /^(authorization|content-type|x-amz-)/.test(name));
    const stored = await fetch(`http://127.0.0.1:${portOf(behind)}${request.url}`, {
      method: request.method,
      headers: Object.fromEntries(passed) as Record<string, string>,
      body: request.method === 'PUT' ? body : undefined,
    });
    response.writeHead(stored.status).end(Buffer.from(await stored.arrayBuffer()));
  });
  await listen(behind);
  await listen(server);
  const bucket: TestBucket = {
    settings: {
      S3_ENDPOINT: `http://127.0.0.1:${portOf(server)}`,
      S3_BUCKET: NAME,
      S3_REGION: REGION,
      S3_ACCESS_KEY_ID: KEY,
      S3_SECRET_ACCESS_KEY: KEY,
    },
    requests: [],
    mode: 'serving',
    close: async () => {
      for (const each of [server, behind]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
  return bucket;
}

const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Verifies AWS Signature Version 4, since s3rver verifies only version 2. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  if (request.headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex')) return false;
  const { authorization = '' } = request.headers;
  const [, scope, signed, signature] =
    new RegExp(`^AWS4-HMAC-SHA256 Credential=${KEY}/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$`).exec(authorization) ?? [];
  if (!scope) return false;
  const [date, region, service] = scope.split('/');
  const names = signed.split(';');
  if (region !== REGION || !['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.includes(name))) return false;
  const headers = names.map((name) => `${name}:${String(request.headers[name]).trim()}\n`).join('');
  const canonical = [request.method, request.url, '', headers, signed, request.headers['x-amz-content-sha256']].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(mac, `AWS4${KEY}`);
  return mac(key, ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, hash].join('\n')).toString('hex') === signature;
}
