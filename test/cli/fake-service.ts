import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server in place of the service, for responses that the service does not send. */
export type FakeService = { url: string /** How many requests came in. */; count(): number; close(): Promise<void> };

export async function openFakeService(listener: RequestListener): Promise<FakeService> {
  let count = 0;
  const server = createServer((request, response) => {
    count++;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
