import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import { parse } from 'cookie';
import { type LanguageCode, languageCodes, languageOf } from '../../contract/languages.ts';
import type { SignInPage } from '../../contract/pages.ts';
import { LANGUAGE_COOKIE } from '../../contract/remembered.ts';
import type { DescribedError } from '../http/errors.ts';

/** The sign-in pages, their forms, and everything below them. */
const SIGN_IN_PATHS = /^\/(?:(?:domain-)?auth|legacy-auth)(?:\/|$)|^(\/oauth\/interaction\/[A-Za-z0-9_-]{21,64})(?:\/|$)/;

/** Returns whether a path is one of the sign-in pages or below them. */
export const isSignInPath = (path: string): boolean => SIGN_IN_PATHS.test(path);

/** Returns whether an error is shown as a page: to a browser, at a path of the sign-in pages. Any other client gets JSON. */
export function wantsErrorPage(request: IncomingMessage): boolean {
  return isSignInPath(partsOf(request).path) && accepts(request).type(['json', 'html']) === 'html';
}

/** Returns whether a client wants JSON rather than a page. */
export const prefersJson = (request: IncomingMessage): boolean => accepts(request).type(['html', 'json']) === 'json';

/** Returns the page of an error, with the way to where the visitor can go on. */
export function errorPage(request: IncomingMessage, { fault, body }: DescribedError): SignInPage {
  const { path, query } = partsOf(request);
  const { code, status, retryAfter } = fault;
  const language = visitorLanguage(request, query);
  const page = { language, target: { kind: 'portal' }, error: { code, reference: body.reference, retryAfter } } as const;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && (status >= 500 || status === 429)) return page;
  return { ...page, ...wayOn(path, query, isRead, language) };
}

/** Returns the page to which a form belongs, or where a sign-in begins. */
function wayOn(path: string, query: URLSearchParams, isRead: boolean, language: LanguageCode): { path: string; search: string } {
  const interaction = SIGN_IN_PATHS.exec(path)?.[1];
  const names = isRead || interaction ? [] : query.has('t') ? ['t'] : query.has('code') ? ['code', 'state', 'iss'] : [];
  const link = names[0] && (names[0] === 't' ? '/auth/link' : '/auth/callback');
  const kept = link ? names : ['forward_url'];
  const entries = kept.flatMap((name) =>
    query
      .getAll(name)
      .slice(0, 1)
      .map((value): [string, string] => [name, value]),
  );
  return { path: interaction ?? link ?? '/auth', search: `?${new URLSearchParams([...entries, ['language', language]])}` };
}

/** Returns the language of the page's URL, else the one that was chosen before, else the first known one of the browser. */
function visitorLanguage(request: IncomingMessage, query: URLSearchParams): LanguageCode {
  const chosen = query.get('language') ?? parse(request.headers.cookie ?? '')[LANGUAGE_COOKIE];
  return languageOf(chosen ?? accepts(request).languages([...languageCodes]));
}

/** Returns path and query of a request that may be malformed. */
function partsOf(request: IncomingMessage & { originalUrl?: string }): { path: string; query: URLSearchParams } {
  const url = request.originalUrl ?? request.url ?? '';
  const at = url.indexOf('?');
  return { path: at < 0 ? url : url.slice(0, at), query: new URLSearchParams(at < 0 ? '' : url.slice(at)) };
}
