import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { openAuthority } from './certificates.ts';
import type { NameServer } from './dns.ts';

/** A host with images. A service in local mode accepts its address and its certificate. */
export type LogoServer = {
  /** Returns the URL of a path: `/logo.png` is an image, `/page` a web page, `/logo.svg` an SVG; `/moved` redirects; others do not exist. */
  url(path: string): string;
  close(): Promise<void>;
};

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

const responses: Record<string, { status?: number; headers?: Record<string, string>; body: Buffer | string }> = {
  '/logo.png': { headers: { 'Content-Type': 'image/png' }, body: PNG },
  '/large.png': { headers: { 'Content-Type': 'image/png' }, body: Buffer.concat([PNG, Buffer.alloc(1024 * 1024)]) },
  '/page': { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' },
  '/logo.svg': { headers: { 'Content-Type': 'image/svg+xml' }, body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  '/moved': { status: 302, headers: { Location: '/logo.png' }, body: '' },
};

/** Starts the host cdn.shop.example. @param names the DNS server of the service (DNS_SERVERS) */
export async function openLogoServer(names: NameServer): Promise<LogoServer> {
  const host = 'cdn.shop.example';
  const authority = await openAuthority();
  const server = createServer(await authority.issue(host, 1), (request, response) => {
    const { status = 200, headers, body } = responses[(request.url ?? '').split('?')[0]] ?? { status: 404, body: '' };
    response.writeHead(status, headers).end(body);
  });
  await authority.close();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  names.setAddresses(host, ['127.0.0.1']);
  return {
    url: (path) => `https://${host}:${(server.address() as AddressInfo).port}${path}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
