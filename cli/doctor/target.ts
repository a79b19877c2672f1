import { normalHost } from '../../contract/rules.ts';
import { usageError } from '../exit.ts';
import { isThisMachine } from './names.ts';

/** The site to look at. */
export type Target = {
  /** As A-label in lower case, or `localhost`. */
  domain: string;
  /** It is developed on this machine: http and any port are fine. */
  local: boolean;
  /** Where visitors come back to; null: not known. */
  callback: URL | null;
};

const CALLBACK = '/auth/callback';

/**
 * @param domain as it was typed
 * @param url as it was typed with --url
 * @throws CommandError usage
 */
export function readTarget(domain: string, url: string | undefined): Target {
  const typed = domain.trim().toLowerCase();
  const local = typed === 'localhost';
  const host = local ? typed : normalHost(typed);
  if (!host) throw usageError(`"${domain}" is not a domain.`, 'Give it alone, such as shop.example, and an address with --url.');
  if (url === undefined) return { domain: host, local, callback: local ? null : new URL(`https://${host}${CALLBACK}`) };
  return { domain: host, local, callback: readCallback(url, host, local) };
}

function readCallback(text: string, domain: string, local: boolean): URL {
  const example = local ? `http://localhost:5173${CALLBACK}` : `https://${domain}${CALLBACK}`;
  const hint = `Give the whole address, such as ${example}.`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw usageError(`--url is not an address: ${text}`, hint);
  const url = new URL(text);
  url.hash = '';
  if (url.username || url.password) throw usageError('--url has a name or password in it.', hint);
  const { hostname, protocol } = url;
  const onSite = local ? isThisMachine(hostname) : hostname === domain || hostname.endsWith(`.${domain}`);
  if (!onSite) throw usageError(`--url is on ${hostname}, not on ${domain}.`, hint);
  if (!local && protocol !== 'https:') throw usageError('--url is http, which visitors are never sent to.', hint);
  return url;
}
