import { paths, websitePath } from '../../paths.ts';

const isLocal = (host: string) => host === 'localhost' || host.endsWith('.localhost') || /^(?:127(?:\.\d+){3}|\[::1\])$/.test(host);

/** Returns the address of a website's home page, with http for a local host. */
export const homeOf = (domain: string) => `${isLocal(domain) ? 'http' : 'https'}://${domain}/`;

/** Returns the address of the sign-in page for a forward_url. @param origin that of the service */
export const signInUrl = (origin: string, forwardUrl: string, language: string) =>
  `${origin}${paths.signIn}?${new URLSearchParams({ forward_url: forwardUrl, language })}`;

/** Returns the address of the sign-in page for a test, whose token comes back to the page `test` of the website. @param origin that of the service */
export const testSignInUrl = (origin: string, domain: string, language: string) =>
  signInUrl(origin, origin + websitePath(domain, 'test'), language);

/** Returns why the service would refuse a forward_url, or null. */
export function faultOfForwardUrl(forwardUrl: string, domain: string): string | null {
  const example = homeOf(domain);
  if (!URL.canParse(forwardUrl)) return `Enter a whole address, such as ${example}`;
  const { protocol, hostname, username, port, searchParams, origin } = new URL(forwardUrl);
  if (hostname !== domain && !hostname.endsWith(`.${domain}`)) return `The address must be on ${domain} or a subdomain of it.`;
  if (!isLocal(hostname) && (protocol !== 'https:' || port !== '')) return 'The address must begin with https:// and name no port.';
  if (username !== '' || !forwardUrl.startsWith(origin)) return `Enter the address as a browser shows it, such as ${example}`;
  return searchParams.has('token') ? 'The address must not have a token parameter: the service adds it.' : null;
}
