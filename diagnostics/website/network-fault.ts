import { oneLine } from '../../contract/check.ts';

/** Why no answer came. `fix` is empty where it depends on what was asked for. */
export type NetworkFault = { code: string; detail: string; fix: string };

/** The code of a lookup that found private addresses alone. */
const NOT_PUBLIC = 'ENOTPUBLIC';

const RENEW = "Renew the certificate; Let's Encrypt issues them free of charge.";
const CHAIN = 'Serve the whole chain: the certificate and those in between, from an authority that browsers trust.';

const TLS_FAULTS: Record<string, [what: string, fix: string]> = {
  CERT_HAS_EXPIRED: ['its certificate has expired', RENEW],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', "Check this machine's clock, and when the certificate begins."],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for other names', 'Get a certificate that names this host.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is signed by itself', CHAIN],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate is from an authority that is not trusted', CHAIN],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate comes without those in between', CHAIN],
  UNABLE_TO_GET_ISSUER_CERT: ['its certificate comes without those in between', CHAIN],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['its certificate is from an authority that is not trusted', CHAIN],
  CERT_REVOKED: ['its certificate was revoked', RENEW],
};

/** Codes of Node.js, its fetch and c-ares, in words that follow the host. */
const FAULTS: Record<string, string> = {
  ENOTFOUND: 'has no address in the DNS',
  [NOT_PUBLIC]: 'has no address on the public internet, and no other is looked at from here',
  EAI_AGAIN: 'cannot be looked up: the name server does not answer',
  ECONNREFUSED: 'refuses the connection: nothing listens there',
  ECONNRESET: 'closed the connection without an answer',
  UND_ERR_SOCKET: 'closed the connection without an answer',
  EPIPE: 'closed the connection without an answer',
  ETIMEDOUT: 'did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  ENETUNREACH: 'cannot be reached from this network',
  EHOSTUNREACH: 'cannot be reached from this network',
};

const FIXES: Record<string, string> = {
  ENOTFOUND: 'Check its spelling; it needs an A or AAAA record.',
  [NOT_PUBLIC]: 'Give it an A or AAAA record that visitors everywhere can reach.',
};

/** @param where the address that was asked, for the sentence */
export function networkFault(error: unknown, where: string): NetworkFault {
  const code = codeOf(error);
  const certificate = TLS_FAULTS[code];
  if (certificate) return { code, detail: `${where} cannot be trusted: ${certificate[0]}.`, fix: certificate[1] };
  if (/^(?:EPROTO|ERR_SSL_.*)$/.test(code)) {
    return { code, detail: `${where} does not speak TLS 1.2 or newer.`, fix: 'Let the web server speak TLS 1.2 and 1.3 at this port.' };
  }
  if (/^HPE_/.test(code)) return { code, detail: `${where} does not speak HTTP.`, fix: '' };
  const fix = FIXES[code] ?? '';
  return { code, detail: `${where} ${FAULTS[code] ?? `failed: ${oneLine(deepest(error))}`}.`, fix };
}

/** Whether the fault lies on this machine's side, so that nothing is told of the one that was asked. */
export const isOurs = ({ code }: NetworkFault) => code === 'EAI_AGAIN' || code === 'ENETUNREACH';

/** The code of an error or of what caused it; empty: none has one. */
function codeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    // Errors of ours have codes in lower case.
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  }
  return '';
}

function deepest(error: unknown): string {
  return error instanceof Error ? (error.cause ? deepest(error.cause) : error.message) : String(error);
}
