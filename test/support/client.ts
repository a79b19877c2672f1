import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

export type HttpResponse = {
  status: number;
  headers: IncomingHttpHeaders;
  setCookies: string[];
  text: string;
  /** The body as JSON, or an empty object when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert its shape.
  json: any;
};

export type RequestOptions = { method?: string; headers?: Record<string, string>; body?: string | Buffer; timeoutMs?: number };

/** An HTTP client with a cookie jar, like one browser. It does not follow redirects. */
export class Client {
  readonly origin: string;
  /** Values by name; cookies with a Path other than `/` are under `name;path`, and are sent below that path only (RFC 6265 §5.1.4). */
  cookies = new Map<string, string>();
  /** Whether a request that gets 503 is repeated, as the service asks for with Retry-After; not in tests of an outage. */
  retriesUnavailable = true;
  /** What a proxy says its network address is (X-Forwarded-For). */
  networkAddress: string | undefined;
  /** Returns the error of a request without a response, with its reason where that is known. */
  explain: ((error: Error) => Promise<Error>) | undefined;
  #agent: Agent;

  /** @param ca the certificate of the authority of an https origin, as PEM */
  constructor(origin: string, ca?: string) {
    this.origin = origin;
    this.#agent = ca ? new SecureAgent({ keepAlive: true, ca, servername: new URL(origin).hostname }) : new Agent({ keepAlive: true });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.send(path, { headers });
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.#json('POST', path, body, headers);
  }

  /** Posts a form as a page of the service does. @param headers replace the Origin; undefined omits one */
  form(path: string, fields: Record<string, string>, headers: Record<string, string | undefined> = {}): Promise<HttpResponse> {
    const sent = {
      Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      Origin: this.origin,
      'Content-Type': 'application/x-www-form-urlencoded',
      ...headers,
    };
    const given = Object.entries(sent).filter((header): header is [string, string] => header[1] !== undefined);
    return this.send(path, { method: 'POST', body: new URLSearchParams(fields).toString(), headers: Object.fromEntries(given) });
  }

  put(path: string, body: unknown = {}): Promise<HttpResponse> {
    return this.#json('PUT', path, body, {});
  }

  delete(path: string): Promise<HttpResponse> {
    return this.send(path, { method: 'DELETE' });
  }

  /**
   * Sends a request to the service's port on 127.0.0.1, with the Host of the origin unless `headers` has another.
   * @param path a path, or a URL whose origin is ignored
   */
  send(path: string, options: RequestOptions = {}): Promise<HttpResponse> {
    return this.retriesUnavailable ? retryUnavailable(() => this.#send(path, options)) : this.#send(path, options);
  }

  async #send(path: string, { method = 'GET', headers = {}, body, timeoutMs = 45_000 }: RequestOptions): Promise<HttpResponse> {
    const { host, port } = new URL(this.origin);
    const cookie = this.#cookiesFor(path.replace(/^https?:\/\/[^/]+/, '').replace(/[?#].*/, ''));
    const response = await new Promise<HttpResponse>((resolve, reject) => {
      const sent = (this.#agent instanceof SecureAgent ? secureRequest : request)({
        host: '127.0.0.1',
        port,
        path: path.replace(/^https?:\/\/[^/]+/, ''),
        method,
        agent: this.#agent,
        timeout: timeoutMs,
        headers: {
          Host: host,
          ...(cookie ? { Cookie: cookie } : {}),
          ...(this.networkAddress ? { 'X-Forwarded-For': this.networkAddress } : {}),
          ...(body === undefined || headers['Transfer-Encoding'] ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
      });
      sent.on('timeout', () => sent.destroy(new Error(`No response to ${method} ${path} within ${timeoutMs} ms`)));
      sent.on('error', async (error) => reject((await this.explain?.(error)) ?? error));
      sent.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const setCookies = incoming.headers['set-cookie'] ?? [];
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, setCookies, text, json: parsed(text) });
        });
      });
      sent.end(body);
    });
    for (const line of response.setCookies) this.#store(line);
    return response;
  }

  #json(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<HttpResponse> {
    return this.send(path, { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });
  }

  #cookiesFor(target: string): string {
    const sent: string[] = [];
    for (const [key, value] of this.cookies) {
      const [name, path] = key.split(';');
      if (path === undefined || target === path || target.startsWith(`${path}/`)) sent.push(`${name}=${value}`);
    }
    return sent.join('; ');
  }

  #store(line: string) {
    const [, bareName, value] = /^([^=]+)=([^;]*)/.exec(line) as RegExpExecArray;
    const path = /;\s*path=([^;]+)/i.exec(line)?.[1];
    const name = path === undefined || path === '/' ? bareName : `${bareName};${path}`;
    const expired = /;\s*max-age=0/i.test(line) || Date.parse(/;\s*expires=([^;]+)/i.exec(line)?.[1] ?? '') < Date.now();
    if (expired || value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** How long a request that gets 503 is repeated, in ms: on a busy machine it may have waited too long for PostgreSQL or the CPU. */
const RETRY_MS = 60_000;
const RETRY_INTERVAL_MS = 100;

async function retryUnavailable(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  const end = performance.now() + RETRY_MS;
  for (;;) {
    const response = await send();
    if (response.status !== 503 || performance.now() > end) return response;
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
