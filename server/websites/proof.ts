import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { hasProofText } from '../../contract/domain-proof.ts';
import { type Dns, openDns } from '../../diagnostics/dns.ts';
import { isPublicAddress } from './public-addresses.ts';

/** How a claimant shows to control a domain: what to publish, and where. */
type DomainProof = { record: string; value: string; fileUrl: string; fileBody: string };

/** Which proof was found; a DNS record is the stronger one. */
export type ProofKind = 'dns' | 'file';

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
const MAX_LENGTH = 4_096;

/** Makes the challenge of one claim: 128 random bits, as hexadecimal digits. */
export const newChallenge = (): string => randomBytes(16).toString('hex');

/** Returns what to publish in order to prove a domain. @param challenge of the account's claim on the domain */
export function proofFor(domain: string, challenge: string): DomainProof {
  return {
    record: `_emailauth.${domain}`,
    value: challenge,
    fileUrl: `https://${domain}${WELL_KNOWN}`,
    fileBody: JSON.stringify({ emailauth: challenge }),
  };
}

/**
 * Looks for a domain's proof: the TXT record and the file; takes 5 s at most.
 * @param domain a registrable domain as A-label
 * @param accepted the kinds that count
 * @returns the kind that was found, or null; a name server or site that fails is no proof
 */
export async function findProof(
  domain: string,
  value: string,
  accepted: readonly ProofKind[],
  options: ProofOptions,
): Promise<ProofKind | null> {
  // Together, since a name server and a site that both stall would else cost their time-outs one after the other.
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

/** Fetches the .well-known file over https, from the public internet. Redirects are not followed. */
async function fetchFile(domain: string, options: ProofOptions): Promise<string> {
  const deadline = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const call = request({
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
  // Whatever breaks once the answer has begun is seen on the response.
  call.on('error', () => {});
  const [response]: IncomingMessage[] = await once(call, 'response');
  try {
    if (response.statusCode !== 200) throw new Error(`The site answered ${response.statusCode}`);
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) {
      body += chunk;
      if (body.length > MAX_LENGTH) throw new Error('The file is too large');
    }
    return body;
  } finally {
    call.destroy();
  }
}
