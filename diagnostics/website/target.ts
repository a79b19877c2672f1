import { isThisMachine, normalHost } from '../../contract/rules.ts';
import type { Ways } from './look.ts';

/** The site to look at. */
export type Target = {
  /** As A-label in lower case, or `localhost`. */
  domain: string;
  /** It is developed on this machine: http and any port are fine. */
  local: boolean;
  /** Where visitors come back to, without query; null: not known. */
  callback: URL | null;
};

type Reading = {
  ways: Pick<Ways, 'url'>;
  /** Makes the error for a site that cannot be looked at: what is wrong, and what to give instead. */
  refuse(message: string, hint: string): Error;
};

const CALLBACK = '/auth/callback';

/**
 * @param domain as it was typed
 * @param url as it was typed; unset: /auth/callback of the domain
 * @throws what `reading.refuse` makes
 */
export function readTarget(domain: string, url: string | undefined, reading: Reading): Target {
  const typed = domain.trim().toLowerCase();
  const local = typed === 'localhost';
  const host = local ? typed : normalHost(typed);
  if (!host) {
    throw reading.refuse(`"${domain}" is not a domain.`, `Give it alone, such as shop.example, and an address with ${reading.ways.url}.`);
  }
  if (url === undefined) return { domain: host, local, callback: local ? null : new URL(`https://${host}${CALLBACK}`) };
  return { domain: host, local, callback: readCallback(url, host, local, reading) };
}

function readCallback(text: string, domain: string, local: boolean, { ways, refuse }: Reading): URL {
  const example = local ? `http://localhost:5173${CALLBACK}` : `https://${domain}${CALLBACK}`;
  const hint = `Give the whole address, such as ${example}.`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw refuse(`${ways.url} is not an address: ${text}`, hint);
  const url = new URL(text);
  url.hash = '';
  // A query can make whatever answers there do something.
  url.search = '';
  if (url.username || url.password) throw refuse(`${ways.url} has a name or password in it.`, hint);
  const { hostname, protocol } = url;
  const onSite = local ? isThisMachine(hostname) : hostname === domain || hostname.endsWith(`.${domain}`);
  if (!onSite) throw refuse(`${ways.url} is on ${hostname}, not on ${domain}.`, hint);
  if (!local && protocol !== 'https:') throw refuse(`${ways.url} is http, which visitors are never sent to.`, hint);
  return url;
}
