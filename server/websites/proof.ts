import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { hasProofText } from '../../contract/urls.ts';
import { type Dns, openDns } from '../../diagnostics/dns.ts';
import { isPublicAddress } from './guarded-fetch.ts';

/** What a claimant publishes to prove control of a domain, and where. */
type DomainProof = { record: string; value: string; fileUrl: string; fileBody: string };

/** The kind of a proof; a DNS record is the stronger one. */
export type ProofKind = 'dns' | 'file';

/** How the proof of a domain is searched. */
export type ProofOptions = {
  /** Name servers as `ip[:port]`; null: the system's. */
  dnsServers: string[] | null;
  /** Which addresses may be connected to; only tests give another rule. */
  isAllowedAddress?: (address: string) => boolean;
  /** Only tests give another port and certificate authority. */
  port?: number;
  ca?: string;
};

const WELL_KNOWN = '/.well-known/emailauth.json';
const FETCH_TIMEOUT_MS = 5_000;
const MAX_FILE_LENGTH = 4_096;

/** Returns a new challenge: 128 random bits as hexadecimal digits. */
export const newChallenge = (): string => randomBytes(16).toString('hex');

/** Returns what to publish to prove a domain. @param challenge of the account's claim to the domain */
export function proofFor(domain: string, challenge: string): DomainProof {
  return {
    record: `_emailauth.${domain}`,
    value: challenge,
    fileUrl: `https://${domain}${WELL_KNOWN}`,
    fileBody: JSON.stringify({ emailauth: challenge }),
  };
}

/**
 * Searches for the proof of a domain in its TXT record and its file; takes at most 5 s.
 * @param domain a registrable domain as A-label
 * @param accepted the kinds to search
 * @returns the kind that was found, or null, also when a name server or site fails
 */
export async function findProof(
  domain: string,
  value: string,
  accepted: readonly ProofKind[],
  options: ProofOptions,
): Promise<ProofKind | null> {
  // At the same time, so that the time-outs of a name server and a site do not add up.
  const record = accepted.includes('dns') && hasRecord(domain, value, options);
  const file = accepted.includes('file') && hasFile(domain, value, options);
  if (await record) return 'dns';
  return (await file) ? 'file' : null;
}

const openPublicDns = ({ dnsServers, isAllowedAddress = isPublicAddress }: ProofOptions): Dns =>
  openDns({ servers: dnsServers, isAllowedAddress });

async function hasRecord(domain: string, value: string, options: ProofOptions): Promise<boolean> {
  try {
    return hasProofText(await openPublicDns(options).texts(`_emailauth.${domain}`), value);
  } catch {
    return false;
  }
}

async function hasFile(domain: string, value: string, options: ProofOptions): Promise<boolean> {
  try {
    const body: unknown = JSON.parse(await fetchFile(domain, options));
    return typeof body === 'object' && body !== null && Object.hasOwn(body, 'emailauth') && Reflect.get(body, 'emailauth') === value;
  } catch {
    return false;
  }
}

/** Fetches the .well-known file over https from the public internet, without following redirects. */
async function fetchFile(domain: string, options: ProofOptions): Promise<string> {
  const deadline = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const clientRequest = request({
    host: domain,
    servername: domain,
    port: options.port ?? 443,
    path: WELL_KNOWN,
    headers: { Accept: 'application/json', 'User-Agent': 'emailauth-domain-proof' },
    lookup: openPublicDns(options).lookup,
    ca: options.ca,
    agent: false,
    signal: deadline,
  }).end();
  // Errors after the start of the response are reported by the response.
  clientRequest.on('error', () => {});
  const [response]: IncomingMessage[] = await once(clientRequest, 'response');
  try {
    if (response.statusCode !== 200) throw new Error(`The site responded with ${response.statusCode}`);
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) {
      body += chunk;
      if (body.length > MAX_FILE_LENGTH) throw new Error('The file is too large');
    }
    return body;
  } finally {
    clientRequest.destroy();
  }
}
