import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isThisMachine } from '../contract/urls.ts';
import { oneLine } from './check.ts';
import type { Dns } from './dns.ts';

/** The response of a website. Its headers and body are untrusted text. */
export type PageResponse = { status: number; location: string | null; setCookies: string[]; body: string };

/** How the requests of a check are sent, and what cancels them. */
export type RequestOptions = {
  dns: Dns;
  /** Sent to the website, for its log. */
  userAgent: string;
  signal: AbortSignal;
};

/** What a request sends besides the headers that every one has. */
export type PageRequest = {
  /** Characters of the body of the response to read; 0, the default: none. */
  maxBody?: number;
  /** Additional headers, such as the cookies of a visitor. */
  headers?: Record<string, string>;
  /** Sent by POST; without it the method is GET. */
  body?: string;
};

/**
 * Sends one request as a browser would, without credentials of ours; redirects are not followed.
 * @throws Error when there is no response or the certificate is not trusted; describeNetworkError explains it
 */
export async function requestPage(
  url: URL,
  { dns, userAgent, signal, maxBody = 0, headers, body }: RequestOptions & PageRequest,
): Promise<PageResponse> {
  const send = url.protocol === 'http:' ? requestHttp : requestHttps;
  const request = send(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Accept: 'text/html,application/json;q=0.9,*/*;q=0.8',
      'User-Agent': userAgent,
      ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    lookup: dns.lookup,
    agent: false,
    // During development a website often has a certificate that only the developer's browser trusts.
    rejectUnauthorized: !isThisMachine(url.hostname),
    signal,
  }).end(body);
  // Errors after the response has started are reported by the response.
  request.on('error', () => {});
  const [response]: IncomingMessage[] = await once(request, 'response');
  try {
    let text = '';
    if (maxBody > 0) {
      for await (const chunk of response.setEncoding('utf8')) {
        text += chunk;
        if (text.length > maxBody) break;
      }
    }
    const { statusCode = 0, headers: received } = response;
    return { status: statusCode, location: received.location ?? null, setCookies: received['set-cookie'] ?? [], body: text };
  } finally {
    request.destroy();
  }
}

/** Why a request got no response. `fix` is empty where it depends on what was requested. */
type NetworkError = { code: string; detail: string; fix: string };

/** The code of a lookup that found only private addresses. */
const NOT_PUBLIC = 'ENOTPUBLIC';

const RENEW = "Renew the certificate; Let's Encrypt issues them free of charge.";
const CHAIN = 'Serve the whole chain: the certificate and the intermediate ones, from an authority that browsers trust.';

const TLS_ERRORS: Record<string, [problem: string, fix: string]> = {
  CERT_HAS_EXPIRED: ['its certificate has expired', RENEW],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', "Check this machine's clock, and when the certificate becomes valid."],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for other names', 'Get a certificate that names this host.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', CHAIN],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate is from an authority that is not trusted', CHAIN],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its intermediate certificates are missing', CHAIN],
  UNABLE_TO_GET_ISSUER_CERT: ['its intermediate certificates are missing', CHAIN],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['its certificate is from an authority that is not trusted', CHAIN],
  CERT_REVOKED: ['its certificate was revoked', RENEW],
};

/** Codes of Node.js, its fetch and c-ares, in words that follow the host. */
const NETWORK_ERRORS: Record<string, string> = {
  ENOTFOUND: 'has no address in the DNS',
  [NOT_PUBLIC]: 'has no address on the public internet, and no other is checked from here',
  EAI_AGAIN: 'cannot be resolved: the name server does not answer',
  ECONNREFUSED: 'refuses the connection: no server is listening there',
  ECONNRESET: 'closed the connection without a response',
  UND_ERR_SOCKET: 'closed the connection without a response',
  EPIPE: 'closed the connection without a response',
  ETIMEDOUT: 'did not respond in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not respond in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not respond in time',
  ENETUNREACH: 'cannot be reached from this network',
  EHOSTUNREACH: 'cannot be reached from this network',
};

const FIXES: Record<string, string> = {
  ENOTFOUND: 'Check its spelling; it needs an A or AAAA record.',
  [NOT_PUBLIC]: 'Give it an A or AAAA record that visitors everywhere can reach.',
};

/** Returns what a failed request means. @param where the address that was requested, for the sentence */
export function describeNetworkError(error: unknown, where: string): NetworkError {
  const code = codeOf(error);
  const certificate = TLS_ERRORS[code];
  if (certificate) return { code, detail: `${where} cannot be trusted: ${certificate[0]}.`, fix: certificate[1] };
  if (/^(?:EPROTO|ERR_SSL_.*)$/.test(code)) {
    return { code, detail: `${where} does not speak TLS 1.2 or newer.`, fix: 'Enable TLS 1.2 and 1.3 in the web server at this port.' };
  }
  if (/^HPE_/.test(code)) return { code, detail: `${where} does not speak HTTP.`, fix: '' };
  const fix = FIXES[code] ?? '';
  return { code, detail: `${where} ${NETWORK_ERRORS[code] ?? `failed: ${oneLine(rootMessage(error))}`}.`, fix };
}

/** Whether the problem is on this machine's side, so that it says nothing about the other one. */
export const isLocalProblem = ({ code }: NetworkError) => code === 'EAI_AGAIN' || code === 'ENETUNREACH';

/** Returns the code of an error or of its cause; empty when there is none. */
function codeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    // Our own errors have codes in lower case.
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  }
  return '';
}

function rootMessage(error: unknown): string {
  return error instanceof Error ? (error.cause ? rootMessage(error.cause) : error.message) : String(error);
}

/** A cookie that a response sets (RFC 6265bis). */
export type SetCookie = {
  name: string;
  value: string;
  httpOnly: boolean;
  secure: boolean;
  /** In lower case; null when the attribute is missing, so that browsers take Lax. */
  sameSite: string | null;
  /** It expires at once. */
  isDeleted: boolean;
};

/** Returns the cookies of `Set-Cookie` headers; those that are not valid are left out. */
export function parseSetCookies(headers: readonly string[]): SetCookie[] {
  return headers.flatMap((header) => {
    const [pair, ...attributes] = header.split(';').map((part) => part.trim());
    const separator = pair.indexOf('=');
    if (separator < 1) return [];
    const values = new Map<string, string>();
    for (const attribute of attributes) {
      const [name, value = ''] = attribute.split('=');
      values.set(name.trim().toLowerCase(), value.trim());
    }
    const value = pair.slice(separator + 1);
    return [
      {
        name: pair.slice(0, separator),
        value,
        httpOnly: values.has('httponly'),
        secure: values.has('secure'),
        sameSite: values.get('samesite')?.toLowerCase() ?? null,
        isDeleted: value === '' || isOver(values),
      },
    ];
  });
}

function isOver(attributes: ReadonlyMap<string, string>): boolean {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  return Date.parse(attributes.get('expires') ?? '') < Date.now();
}

/** Returns the names of the cookies that a response sets, without those that it deletes. */
export const namesOfSetCookies = (headers: readonly string[]): string[] =>
  parseSetCookies(headers)
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ name }) => name);

/** Whether scripts of the page have to read a cookie: a token against forged forms, which is not a session. */
export const isFormToken = ({ name }: SetCookie): boolean => /csrf|xsrf/i.test(name);
