import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy between the command and the service that records requests and can change responses. */
export type Relay = { url: string; paths: string[]; close(): Promise<void> };

/** @param change receives each response body and returns the one to pass on */
export async function openRelay(service: string, change: (body: string) => string = (body) => body): Promise<Relay> {
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    paths.push(String(request.url));
    const received = await fetch(`${service}${request.url}`, {
      method: request.method,
      headers: { 'Content-Type': 'application/json' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(received.status, { 'Content-Type': 'application/json' }).end(change(await received.text()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
