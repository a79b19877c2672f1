import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from './client.ts';

/** A website that uses the service. */
export type TestWebsite = {
  url: string;
  /** Returns the URL of the sign-in page with a forward_url of this website. @param more parameters */
  signInUrl(language?: string, more?: Record<string, string>): string;
  close(): Promise<void>;
};

/** Starts a website that signs its visitors in with the service: its page verifies the token of its URL. */
export async function openTestWebsite(serviceUrl: string): Promise<TestWebsite> {
  const service = new Client(serviceUrl);
  const server: Server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const token = url.searchParams.get('token');
    const result = token ? (await service.get(`/api/verify-token?token=${encodeURIComponent(token)}&domain=localhost`)).json : null;
    const text = result === null ? 'Please sign in' : result.valid ? `Hello ${result.email}` : `Refused: ${result.reason}`;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><title>A shop</title><h1>${text}</h1><p id="method">${result?.method}</p><p id="referrer">${request.headers.referer ?? 'no referrer'}</p>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    url,
    signInUrl: (language = 'en', more = {}) =>
      `${serviceUrl}/auth?${new URLSearchParams({ forward_url: `${url}/welcome?from=shop`, language, ...more })}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
