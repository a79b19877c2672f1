import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anyEntered } from '../contract/entered.ts';
import { isThisMachine } from '../contract/urls.ts';
import { CommandError, EXIT } from './exit.ts';

/** A listener for a loopback redirect URI (RFC 8252 §7.3). */
export type Loopback = {
  redirectUri: string;
  /** Accepts a link with this state as well; every other one is refused. */
  expect(state: string): void;
  /** Resolves with the first valid link; later ones are not found. Rejects with a CommandError when it comes from another service. */
  authorization: Promise<{ code: string; state: string }>;
  /** Responds to the browser that opened the link, if one did, with the result of the sign-in. Resolves once the page is sent. */
  respond(outcome: 'signed_in' | 'failed'): Promise<void>;
  close(): void;
};

const CODE = /^[A-Za-z0-9._~-]{1,512}$/;

/**
 * Listens on a free port of 127.0.0.1.
 * @param service origin of the service whose link is expected
 * @param startedIn where the person started the sign-in, for the pages
 */
export async function openLoopback(service: string, startedIn: Origin = 'terminal'): Promise<Loopback> {
  const send = (response: ServerResponse, outcome: Outcome) => sendPage(response, outcome, startedIn);
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
  const authorization = new Promise<{ code: string; state: string }>((resolve, reject) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // A page on another host whose name was rebound to this address (DNS rebinding) sends its own host.
      if (opened || request.method !== 'GET' || request.headers.host !== host) return void send(response, 'not_found');
      const [path, query = ''] = String(request.url).split('?', 2);
      if (path !== '/callback') return void send(response, 'not_found');
      const parameters = new URLSearchParams(query);
      const [code, state, issuer] = ['code', 'state', 'iss'].map((name) => parameters.getAll(name));
      if (state.length !== 1 || !isExpected(state[0]) || code.length !== 1 || !CODE.test(code[0]))
        return void send(response, 'wrong_state');
      opened = response;
      server.close();
      // RFC 9207 §2.4: the code of one service must not be sent to another.
      if (issuer.some((each) => normalOrigin(each) !== normalOrigin(service))) {
        void send(response, 'wrong_service').then(() => reject(wrongService(issuer[0], service)));
        return;
      }
      resolve({ code: code[0], state: state[0] });
    });
  });
  // It may reject after the sign-in was completed by the code.
  authorization.catch(() => {});

  return {
    redirectUri: `http://${host}/callback`,
    expect: (state) => void states.push(Buffer.from(state)),
    authorization,
    respond: async (outcome) => (opened ? send(opened, outcome) : undefined),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function sendPage(response: ServerResponse, outcome: Outcome, startedIn: Origin): Promise<void> {
  // A response was sent already, or the browser closed the connection.
  if (response.writableEnded || response.destroyed) return;
  const { status, headers, body } = renderPage(outcome, startedIn);
  const done = new Promise<void>((resolve) => response.once('close', resolve));
  response.writeHead(status, headers);
  response.end(body);
  await done;
}

/** Returns the origin of an address; a service on this machine has the same one under all of its names. */
function normalOrigin(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, origin } = new URL(address);
  return isThisMachine(hostname) ? `${protocol}//loopback:${port}` : origin;
}

function wrongService(issuer: string, service: string): CommandError {
  const other = URL.canParse(issuer) ? new URL(issuer).origin : 'another service';
  return new CommandError(
    EXIT.failure,
    'other_service',
    `The link came from ${other}, not from ${service}. You are not signed in.`,
    `If ${other} is your service, run \`emailauth login --host ${other}\`.`,
  );
}

/** The result of opening an emailed link, for the browser that opened it. */
type Outcome = 'signed_in' | 'failed' | 'wrong_state' | 'wrong_service' | 'not_found';

/** Where the person started the sign-in. */
type Origin = 'terminal' | 'assistant';

const PAGES: Record<Outcome, { status: number; title: string; text: string; assistantText?: string }> = {
  signed_in: {
    status: 200,
    title: 'You are signed in',
    text: 'The terminal continues by itself. You can close this window.',
    assistantText: 'Tell your assistant to continue. You can close this window.',
  },
  failed: {
    status: 400,
    title: 'The sign-in did not work',
    text: 'The terminal shows the reason. You can close this window and start again there.',
    assistantText: 'You can close this window. Ask your assistant for another email.',
  },
  wrong_state: {
    status: 400,
    title: 'This link belongs to another sign-in',
    text: `You are not signed in. Open the link of the newest email, or type its ${anyEntered('size')} in the terminal.`,
    assistantText: `You are not signed in. Open the link of the newest email, or tell your assistant its ${anyEntered('size')}.`,
  },
  wrong_service: {
    status: 400,
    title: 'This link comes from another service',
    text: 'You are not signed in. The terminal shows which service it uses.',
    assistantText: 'You are not signed in. Ask your assistant which service it uses.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    text: 'The terminal is waiting for the link of a sign-in email. You can close this window.',
    assistantText: 'Your assistant is waiting for the link of a sign-in email. You can close this window.',
  },
};

const STYLE = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1.5rem;
  background: light-dark(#fcfcfb, #101211); color: light-dark(#141816, #edf0ee); font: 1rem/1.6 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 1.75rem; border: 1px solid light-dark(#e2e5e1, #2a2f2d); border-radius: 0.75rem;
  background: light-dark(#ffffff, #161918); overflow-wrap: anywhere; }
h1 { margin: 0 0 0.5rem; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0; color: light-dark(#59625d, #a0a9a4); }
`;

// The page runs no script and loads nothing.
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the page for an outcome, with its headers. It contains nothing from the request. */
function renderPage(outcome: Outcome, startedIn: Origin): { status: number; headers: Record<string, string>; body: string } {
  const { status, title, text, assistantText = text } = PAGES[outcome];
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Email Auth</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${startedIn === 'assistant' ? assistantText : text}</p>
</main>
</body>
</html>
`;
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      Connection: 'close',
    },
    body,
  };
}
