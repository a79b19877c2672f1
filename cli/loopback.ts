import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError, EXIT } from './exit.ts';
import { type Outcome, pageOf, type Waiting } from './loopback-page.ts';

/** The listener behind a redirect URI of this machine (RFC 8252 §7.3). */
export type Loopback = {
  redirectUri: string;
  /** Takes a link with this state too; every other one is refused. */
  expect(state: string): void;
  /** The first good link; every later one finds nobody. @throws CommandError, when it comes from another service */
  arrival: Promise<{ code: string; state: string }>;
  /** Tells the browser of the link, if one came, how the sign-in ended. Resolves once its page is sent. */
  tell(outcome: 'signed_in' | 'failed'): Promise<void>;
  close(): void;
};

const CODE = /^[A-Za-z0-9._~-]{1,512}$/;

/**
 * Listens on a free port of 127.0.0.1.
 * @param service origin of the service that is waited for
 * @param waiting where the person began, for the pages
 */
export async function openLoopback(service: string, waiting: Waiting = 'terminal'): Promise<Loopback> {
  const send = (response: ServerResponse, outcome: Outcome) => sendPage(response, outcome, waiting);
  const states: Buffer[] = [];
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const isExpected = (state: string) => {
    const given = Buffer.from(state);
    return states.filter((known) => known.length === given.length && timingSafeEqual(known, given)).length > 0;
  };

  let opened: ServerResponse | null = null;
  const arrival = new Promise<{ code: string; state: string }>((resolve, reject) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // A page elsewhere whose name was made to lead here (DNS rebinding) sends its own name.
      if (opened || request.method !== 'GET' || request.headers.host !== host) return void send(response, 'not_found');
      const [path, query = ''] = String(request.url).split('?', 2);
      if (path !== '/callback') return void send(response, 'not_found');
      const parameters = new URLSearchParams(query);
      const [code, state, issuer] = ['code', 'state', 'iss'].map((name) => parameters.getAll(name));
      if (state.length !== 1 || !isExpected(state[0]) || code.length !== 1 || !CODE.test(code[0]))
        return void send(response, 'wrong_state');
      opened = response;
      server.close();
      // RFC 9207 §2.4: a code of one service must not be shown to another.
      if (issuer.some((each) => !isSameService(each, service))) {
        void send(response, 'wrong_service').then(() => reject(otherService(issuer[0], service)));
        return;
      }
      resolve({ code: code[0], state: state[0] });
    });
  });
  // Whether somebody waits for it or the code was faster.
  arrival.catch(() => {});

  return {
    redirectUri: `http://${host}/callback`,
    expect: (state) => void states.push(Buffer.from(state)),
    arrival,
    tell: async (outcome) => (opened ? send(opened, outcome) : undefined),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function sendPage(response: ServerResponse, outcome: Outcome, waiting: Waiting): Promise<void> {
  // Answered already, or the browser has gone.
  if (response.writableEnded || response.destroyed) return;
  const { status, headers, body } = pageOf(outcome, waiting);
  const done = new Promise<void>((resolve) => response.once('close', resolve));
  response.writeHead(status, headers);
  response.end(body);
  await done;
}

/** One service of this machine may be asked by several names, such as localhost and 127.0.0.1. */
function isSameService(issuer: string, service: string): boolean {
  return origin(issuer) === origin(service);
}

function origin(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, origin } = new URL(address);
  return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? `${protocol}//loopback:${port}` : origin;
}

function otherService(issuer: string, service: string): CommandError {
  const named = URL.canParse(issuer) ? new URL(issuer).origin : 'another service';
  return new CommandError(
    EXIT.failure,
    'other_service',
    `The link came from ${named}, not from ${service}. Nobody was signed in.`,
    `If ${named} is your service, run \`emailauth login --host ${named}\`.`,
  );
}
