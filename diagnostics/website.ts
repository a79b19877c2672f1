import { getDomain } from 'tldts';
import { WEBSITE_PATHS } from '../contract/pages.ts';
import { isThisMachine, normalHost } from '../contract/urls.ts';
import type { Cancellation } from './check.ts';
import type { RequestOptions } from './request.ts';

/** The paths of a website where they are not the usual ones. */
export type WebsitePaths = {
  /** The path that starts a sign-in; unset: /login, or the link to it. */
  loginPath?: string;
  /** The path of a page for signed-in visitors; unset: /account. */
  page?: string;
};

/** The website to check. */
export type Target = WebsitePaths & {
  /** As A-label in lower case, or `localhost`. */
  domain: string;
  /** The website runs on this machine during development: http and any port are allowed. */
  isLocal: boolean;
  /** Where visitors come back to, without query; null: unknown. */
  callback: URL | null;
};

/** What every check of a website needs. */
export type CheckOptions = Cancellation & RequestOptions & { remedies: Remedies };

/** What to do next, in the terms of the program that runs the checks: commands, or tools of the MCP server. */
export type Remedies = {
  /** How the address of the callback is passed, such as `--url`. */
  urlOption: string;
  /** What writes a callback, as a sentence. */
  writeCallback: string;
  /** How to sign in, as a sentence. */
  signIn: string;
  /** What verifies the proof of a domain. */
  prove(domain: string): string;
  /** What registers a domain. */
  register(domain: string): string;
  /** What checks that which is not visible from outside, as a sentence. */
  wholeSignIn: string;
  /** How the path of the login is passed, as a sentence; empty where it cannot be. */
  nameLogin: string;
};

type ParseOptions = WebsitePaths & {
  /** As in Remedies. */
  urlOption: string;
  /** Creates the error for input that is not valid: what is wrong, and what to pass instead. */
  refuse(message: string, hint: string): Error;
};

/**
 * Returns the website that a person named.
 * @param domain as it was typed
 * @param url of the callback, as it was typed; /auth/callback of the domain by default
 * @throws what `options.refuse` returns
 */
export function parseTarget(domain: string, url: string | undefined, options: ParseOptions): Target {
  const typed = domain.trim().toLowerCase();
  const isLocal = typed === 'localhost';
  const host = isLocal ? typed : normalHost(typed);
  if (!host) {
    const hint = `Give only the domain, such as shop.example; pass an address with ${options.urlOption}.`;
    throw options.refuse(`"${domain}" is not a domain.`, hint);
  }
  const paths = {
    loginPath: parsePath(options.loginPath, 'login', options.refuse),
    page: parsePath(options.page, 'account', options.refuse),
  };
  if (url !== undefined) return { domain: host, isLocal, callback: parseCallback(url, host, isLocal, options), ...paths };
  return { domain: host, isLocal, callback: isLocal ? null : new URL(`https://${host}${WEBSITE_PATHS.callback}`), ...paths };
}

/**
 * Returns the path of a page of a website, as it was typed.
 * @throws what `refuse` returns, for one that would lead to another website
 */
export function parsePath(text: string | undefined, what: 'login' | 'account', refuse: ParseOptions['refuse']): string | undefined {
  if (text === undefined || /^\/(?![/\\])[^\s\\?#]*$/.test(text)) return text;
  throw refuse(`"${text}" is not a path.`, `Give the path alone, such as ${WEBSITE_PATHS[what]}.`);
}

function parseCallback(text: string, domain: string, isLocal: boolean, { urlOption, refuse }: ParseOptions): URL {
  const example = isLocal ? `http://localhost:5173${WEBSITE_PATHS.callback}` : `https://${domain}${WEBSITE_PATHS.callback}`;
  const hint = `Give the whole address, such as ${example}.`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw refuse(`${urlOption} is not an address: ${text}`, hint);
  const url = new URL(text);
  url.hash = '';
  // A query can trigger an action on the website.
  url.search = '';
  if (url.username || url.password) throw refuse(`${urlOption} contains a user name or password.`, hint);
  const { hostname, protocol } = url;
  const isOnWebsite = isLocal ? isThisMachine(hostname) : hostname === domain || hostname.endsWith(`.${domain}`);
  if (!isOnWebsite) throw refuse(`${urlOption} is on ${hostname}, not on ${domain}.`, hint);
  if (!isLocal && protocol !== 'https:') throw refuse(`${urlOption} is http, but visitors are only sent to https.`, hint);
  return url;
}

/** Returns the registrable domain of a host by the Public Suffix List, or the host when it has none. */
export function registrableDomain(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}
