import { isLoopbackRedirectHost, normalHost } from './urls.ts';

/** Returns what is wrong with a redirect URI or logout URI of a client, as the rest of a sentence that begins with it, or null. */
export function redirectUriFault(uri: string): string | null {
  return hasOwnScheme(uri) ? ownSchemeFault(uri) : serverUriFault(uri);
}

/**
 * Returns what is wrong with a URL that belongs to an application, as the rest of a sentence that begins with it, or null. It is
 * https with a domain, or http to a loopback host, and is written as browsers serialize it, because it is compared exactly.
 */
export function serverUriFault(uri: string): string | null {
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  const fault = uriTextFault(uri);
  if (fault) return fault;
  const { protocol, origin, hostname, username, password } = new URL(uri);
  if (username || password) return 'must have no user info';
  const isWeb = protocol === 'https:' && normalHost(hostname) === hostname;
  const isLoopback = protocol === 'http:' && isLoopbackRedirectHost(hostname);
  if (!isWeb && !isLoopback) return 'must be https with a domain, or http to localhost, 127.0.0.1 or [::1]';
  if (!uri.startsWith(origin) || !/^[/?]?$/.test(uri.charAt(origin.length))) {
    return 'must begin with scheme and host in lower case, without a default port';
  }
  return null;
}

function uriTextFault(uri: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || /["'<>\\^`{|}]/.test(uri))
    return 'must be plain ASCII without quotes: percent-encode the rest, and write the host as A-label';
  return uri.includes('#') ? 'must have no fragment' : null;
}

/**
 * Returns whether a URI has another scheme than http and https, as that of a program on the device (RFC 8252 §7.1). What stands in the
 * place of its host means nothing.
 */
export function hasOwnScheme(uri: string): boolean {
  return /^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(uri);
}

/** A domain in reverse order (RFC 8252 §7.1): it begins with a top-level domain, and has no letters that only look like others. */
const REVERSE_DOMAIN = /^(?:[a-z]{2}|app|cloud|com|dev|edu|gov|info|net|org)(?:\.(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
/** A name that could also be read as the host of a website, from the left to the right. */
const FORWARD_DOMAIN = /\.(?:com|edu|gov|net|org|amazon|apple|bank|google|microsoft)$/;

/** The schemes of programs that are known to connect to MCP servers by them. Any other one could belong to the system or the browser. */
const PROGRAM_SCHEMES: readonly string[] = [
  'claude',
  'cursor',
  'kiro',
  'raycast',
  'trae',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'windsurf',
  'zed',
];

function ownSchemeFault(uri: string): string | null {
  const fault = uriTextFault(uri);
  if (fault) return fault;
  const scheme = uri.slice(0, uri.indexOf(':'));
  if (!PROGRAM_SCHEMES.includes(scheme) && (!REVERSE_DOMAIN.test(scheme) || FORWARD_DOMAIN.test(scheme)))
    return 'must be https, or have the scheme of a program: a domain in reverse order, in lower case, such as com.example.app:/callback';
  if (uri.includes('@')) return 'must have no user info';
  return /^:\/./.test(uri.slice(scheme.length)) && URL.canParse(uri) ? null : 'must have a path, such as com.example.app:/callback';
}
