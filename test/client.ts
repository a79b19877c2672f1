import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  setCookies: string[];
  text: string;
  /** The body as JSON; an empty object when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at what comes, whatever its shape.
  json: any;
};

export type Sending = { method?: string; headers?: Record<string, string>; body?: string | Buffer; milliseconds?: number };

/** An HTTP client with a cookie jar: to the service it is one browser. Redirects are not followed. */
export class Client {
  readonly origin: string;
  cookies = new Map<string, string>();
  #agent = new Agent({ keepAlive: true });

  constructor(origin: string) {
    this.origin = origin;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, { headers });
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#json('POST', path, body, headers);
  }

  put(path: string, body: unknown = {}): Promise<Answer> {
    return this.#json('PUT', path, body, {});
  }

  delete(path: string): Promise<Answer> {
    return this.send(path, { method: 'DELETE' });
  }

  /** Sends to the service's port on 127.0.0.1, with the origin's Host unless another is given. `path` may be a full address, whose origin is left out. */
  async send(path: string, { method = 'GET', headers = {}, body, milliseconds = 45_000 }: Sending = {}): Promise<Answer> {
    const { host, port } = new URL(this.origin);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await new Promise<Answer>((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port,
        path: path.replace(/^https?:\/\/[^/]+/, ''),
        method,
        agent: this.#agent,
        timeout: milliseconds,
        headers: {
          Host: host,
          ...(cookie ? { Cookie: cookie } : {}),
          ...(body === undefined || headers['Transfer-Encoding'] ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
      });
      sent.on('timeout', () => sent.destroy(new Error(`No answer to ${method} ${path} within ${milliseconds} ms`)));
      sent.on('error', reject);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const setCookies = response.headers['set-cookie'] ?? [];
          resolve({ status: response.statusCode ?? 0, headers: response.headers, setCookies, text, json: parsed(text) });
        });
      });
      sent.end(body);
    });
    for (const line of answer.setCookies) this.#keep(line);
    return answer;
  }

  #json(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    return this.send(path, { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });
  }

  #keep(line: string) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as RegExpExecArray;
    const gone = /;\s*max-age=0/i.test(line) || Date.parse(/;\s*expires=([^;]+)/i.exec(line)?.[1] ?? '') < Date.now();
    if (gone || value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** Sends again while the answer is 503: on a busy machine a crowd waits for PostgreSQL for longer than the service lets it. */
export async function insist(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
