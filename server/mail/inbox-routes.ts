import { type RequestHandler, type Response, Router } from 'express';
import { isFromThisMachine } from '../http/client-address.ts';
import type { Inbox } from './inbox.ts';
import { inboxScript, inboxStyles, listHtml, messageDocument, pageHtml, type View } from './inbox-page.ts';

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
// An email may have styles and open its links in new tabs; it runs no scripts and loads nothing.
const MESSAGE_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
const HEARTBEAT_MS = 20_000;

/**
 * Serves /dev/inbox: the emails of local mode, updated live, for requests from this machine; others get 404.
 * @param parts.headers of every response that is data; pages and messages replace the policy
 */
export function inboxRouter({ inbox, headers }: { inbox: Inbox; headers: Record<string, string> }): Router {
  const router = Router();
  router.use('/dev/inbox', onlyFromThisMachine, (_request, response, next) => {
    response.set(headers);
    next();
  });

  router.get('/dev/inbox', async (_request, response) => {
    sendPage(response, pageHtml({ messages: await inbox.list(), chosen: null }));
  });

  router.get('/dev/inbox/messages/:id', async (request, response, next) => {
    const message = await inbox.find(request.params.id);
    if (!message) return next('router');
    const view = viewOf(request.query.view);
    const raw = view === 'raw' ? ((await inbox.source(message.id)) ?? '') : '';
    sendPage(response, pageHtml({ messages: await inbox.list(), chosen: { message, view, raw } }));
  });

  router.get('/dev/inbox/messages/:id/html', async (request, response, next) => {
    const message = await inbox.find(request.params.id);
    if (!message) return next('router');
    response.set('Content-Security-Policy', MESSAGE_POLICY);
    response.set('X-Frame-Options', 'SAMEORIGIN');
    send(response, 'text/html', messageDocument(message));
  });

  router.get('/dev/inbox/messages.json', async (request, response) => {
    const to = typeof request.query.to === 'string' ? request.query.to.toLowerCase() : null;
    const messages = (await inbox.list()).filter((message) => to === null || message.to.toLowerCase() === to);
    const listed = messages.map(({ id, to, subject, date, text, link, code }) => ({ id, to, subject, date, text, link, code }));
    send(response, 'application/json', JSON.stringify(listed));
  });

  router.get('/dev/inbox/list', async (request, response) => {
    const chosen = typeof request.query.chosen === 'string' ? request.query.chosen : null;
    send(response, 'text/html', listHtml(await inbox.list(), chosen));
  });

  router.get('/dev/inbox/events', async (request, response) => {
    response.set('Content-Type', 'text/event-stream').flushHeaders();
    const stop = await inbox.watch(() => response.write('data: changed\n\n'));
    const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS).unref();
    response.write('data: changed\n\n');
    request.on('close', () => {
      clearInterval(heartbeat);
      stop();
    });
  });

  router.get('/dev/inbox/inbox.css', (_request, response) => send(response, 'text/css', inboxStyles));
  router.get('/dev/inbox/inbox.js', (_request, response) => send(response, 'text/javascript', inboxScript));
  return router;
}

const onlyFromThisMachine: RequestHandler = (request, _response, next) => {
  if (isFromThisMachine(request)) next();
  else next('router');
};

function viewOf(input: unknown): View {
  return input === 'text' || input === 'raw' ? input : 'html';
}

function sendPage(response: Response, html: string) {
  response.set('Content-Security-Policy', PAGE_POLICY);
  response.set('X-Frame-Options', 'DENY');
  send(response, 'text/html', html);
}

function send(response: Response, type: string, body: string) {
  response.set('Content-Type', `${type}; charset=utf-8`);
  response.end(body);
}
