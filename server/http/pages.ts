import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import compression from 'compression';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { LanguageCode } from '../../contract/languages.ts';
import { BOOT_ELEMENT, type PageEntry, pages, type SignInBoot } from '../../contract/pages.ts';
import { slugAt } from '../../docs/pages.ts';
import type { Config } from '../config.ts';
import { texts } from '../languages/texts.ts';
import { describePages } from './page-texts.ts';
import { pageHeaders } from './protection.ts';

// From source and from dist alike, the built web app lies in dist/web of the package.
const webRoot = fileURLToPath(new URL(import.meta.url.includes('/dist/server/') ? '../../web/' : '../../dist/web/', import.meta.url));

const files: Record<PageEntry, string> = { signin: 'signin.html', portal: 'index.html' };

/** The built web app: its two pages, its files and the hashes of its inline scripts. */
export type WebApp = {
  /** The headers that its pages and files go out with. */
  headers: RequestHandler;
  /** /assets: files whose names hold their hash. */
  assets: RequestHandler[];
  /** The sign-in page with its texts and target written in. */
  sendSignIn(response: ServerResponse, boot: Omit<SignInBoot, 'texts'>): void;
  /** The portal's page, described for search engines as what stands at `path`. */
  sendPortal(response: ServerResponse, path: string, status: 200 | 404): void;
  /** The address of its icon. */
  icon: string;
};

/** Which entry shows a path, or null where there is no page. */
export function entryOf(path: string): PageEntry | null {
  const plain = plainPath(path);
  return (pages as Record<string, PageEntry>)[plain] ?? (slugAt(plain) ? 'portal' : null);
}

/** A path without the slash at its end. */
export const plainPath = (path: string) => (path.length > 1 ? path.replace(/\/$/, '') : path);

/** @throws when the web app is not built */
export function loadWebApp({ publicUrl, secure }: Pick<Config, 'publicUrl' | 'secure'>): WebApp {
  const html = { signin: readPage('signin'), portal: readPage('portal') };
  const headers = pageHeaders(secure, [...new Set(Object.values(html).flatMap(inlineScriptHashes))]);
  const portalAt = describePages(html.portal, publicUrl);
  const signInParts = new Map<LanguageCode, { before: string; after: string }>();
  const partsOf = (language: LanguageCode) => {
    const known = signInParts.get(language);
    if (known) return known;
    const [before, after] = html.signin.replace(/<html lang="\w+"/, `<html lang="${language}"`).split('<!--boot-->');
    signInParts.set(language, { before, after });
    return { before, after };
  };
  const send = (response: ServerResponse, status: number, body: string) => {
    headers(response.req as Request, response as Response, () => {});
    response.statusCode = status;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  };
  return {
    headers,
    // Pages are not compressed: next to a secret, what a request makes them repeat would tell its length (BREACH).
    assets: [compression(), express.static(`${webRoot}assets`, { immutable: true, maxAge: '365d', index: false, redirect: false })],
    sendSignIn: (response, boot) => {
      const { before, after } = partsOf(boot.language);
      // `<` would let a text end the script element.
      const data = JSON.stringify({ ...boot, texts: texts[boot.language] } satisfies SignInBoot).replaceAll('<', '\\u003c');
      send(response, 200, `${before}<script type="application/json" id="${BOOT_ELEMENT}">${data}</script>${after}`);
    },
    sendPortal: (response, path, status) => send(response, status, portalAt(plainPath(path))),
    icon: /rel="icon" href="([^"]+)"/.exec(html.portal)?.[1] ?? '',
  };
}

function readPage(entry: PageEntry): string {
  try {
    return readFileSync(`${webRoot}${files[entry]}`, 'utf8');
  } catch (cause) {
    throw new Error('The web app is not built. Run: npm run build', { cause });
  }
}

/** CSP Level 3 §2.3.1: the hash of each inline script, as the policy names it. */
function inlineScriptHashes(html: string): string[] {
  return [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}
