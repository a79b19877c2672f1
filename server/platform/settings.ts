import { createPrivateKey } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { MAIL_BLOCK_FACTOR, MAX_LOG_DAYS } from '../../contract/limits.ts';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { isThisMachine, normalHost } from '../../contract/urls.ts';
import { normalizeUrl, tlsFaultOf } from './db/address.ts';
import { parseSender } from './sender.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const MIN_SECRET_KEY_BYTES = 32;
export const MIN_ADMIN_PASSWORD_LENGTH = 15;
/** Browsers read at least so many different domains of a list (WebAuthn Level 3 §5.11.1). */
const MAX_RELATED_ORIGINS = 5;
/** A century, which means forever. */
const MAX_RETENTION_DAYS = 36_500;

const wholeNumber = (min: number, max: number) => {
  const remedy = `give a whole number from ${min} to ${max}`;
  return z.string().regex(/^\d+$/, remedy).transform(Number).pipe(z.number().min(min, remedy).max(max, remedy));
};
const refined = (accepts: (text: string) => boolean, remedy: string) => z.string().refine(accepts, { error: remedy });
const printable = refined((text) => /^[\x21-\x7e]+$/.test(text), 'give printable characters without spaces');
const RAW_PASSWORD = 'write the characters / ? # and @ of the user or the password as %2F %3F %23 and %40';
/** Returns whether an @ follows the host of a URL: a character of the password has ended the authority before it (RFC 3986 §3.2). */
const hasRawPassword = (text: string) => /^[a-z]+:\/\/[^/?#@]*(?:[/#][^?]*|\?(?![a-z_]+=).*)@/is.test(text);
const postgresUrl = z.string().transform((text, { addIssue }) => {
  if (hasRawPassword(text)) addIssue({ code: 'custom', message: RAW_PASSWORD });
  const url = normalizeUrl(text);
  const fault = url ? tlsFaultOf(url) : 'give postgres://user:password@host:port/database';
  if (fault) addIssue({ code: 'custom', message: fault });
  return url ?? z.NEVER;
});

const domainName = z.string().transform((text, { addIssue }) => {
  const domain = normalHost(text);
  if (!domain) addIssue({ code: 'custom', message: 'give a domain, such as your-domain.example' });
  return domain ?? z.NEVER;
});

/** What a MAIL_FROM that is refused should be instead. */
export const SENDER_REMEDY = 'give one address, such as Email Auth <no-reply@your-domain>';
const sender = z.string().transform((text, { addIssue }) => {
  const parsed = parseSender(text);
  if (typeof parsed === 'object') return parsed;
  addIssue({ code: 'custom', message: `${parsed}; ${SENDER_REMEDY}` });
  return z.NEVER;
});

const secretKey = refined(
  (text) => Buffer.byteLength(text) >= MIN_SECRET_KEY_BYTES,
  `give at least ${MIN_SECRET_KEY_BYTES} bytes, such as the output of \`openssl rand -base64 48\``,
);

/** Every setting by name: its schema, and what it means when unset. An empty value counts as unset. */
export const settings = {
  NODE_ENV: z
    .enum(['production', 'development', 'test'], { error: 'give production, or leave it unset' })
    .describe('`production` switches to production mode · unset: PUBLIC_URL decides'),
  PORT: wholeNumber(1, 65_535).describe('port to listen on · unset: 4400'),
  HOST: refined((text) => /^[A-Za-z0-9.:-]+$/.test(text), 'give an address of this machine, such as 127.0.0.1 or 0.0.0.0').describe(
    'address to listen on · unset: 127.0.0.1 in local mode, else 0.0.0.0',
  ),
  PUBLIC_URL: refined(isOrigin, 'give scheme and host only, such as https://auth.example.com')
    .transform((text) => new URL(text).origin)
    .describe('where browsers reach the service; mail links start with it · unset: http://localhost:PORT'),
  DATABASE_URL: postgresUrl.describe(
    'any PostgreSQL from version 14, several hosts separated by commas · unset: the embedded one in DATA_DIR',
  ),
  DATABASE_DIRECT_URL: postgresUrl.describe('the same database without a pooler: for LISTEN, locks and migrations · unset: DATABASE_URL'),
  DATABASE_PREPARED_STATEMENTS: z
    .enum(['on', 'off'], { error: 'give on or off' })
    .describe('off for a pooler in transaction mode that does not support prepared statements · unset: on'),
  DATA_DIR: z
    .string()
    .transform((text) => resolve(text))
    .describe('where the embedded PostgreSQL and the generated secrets are stored · unset: ./data'),
  SMTP_URL: refined(
    (text) => /^smtps?:\/\/[^/]/.test(text) && URL.canParse(text),
    'give smtp://user:password@host:587, or smtps://… for TLS from the first byte',
  )
    .refine((text) => !hasRawPassword(text), RAW_PASSWORD)
    .describe('the mail server that delivers emails · unset: the built-in inbox, in local mode only'),
  MAIL_FROM: sender.describe("the sender of every email · unset: Email Auth <no-reply@PUBLIC_URL's host>"),
  DKIM_DOMAIN: domainName.describe('domain of the DKIM signature (RFC 6376) · unset: the service does not sign emails'),
  DKIM_SELECTOR: refined(isSelector, 'give the selector of the DNS record, such as mail').describe('selector of the DKIM key'),
  DKIM_KEY: z
    .string()
    .transform(readPem)
    .refine(isRsaKey, { error: 'give an RSA private key as PEM, or the path of a file that contains one' })
    .describe('RSA private key, as PEM (line ends may be written \\n) or the path of a PEM file'),
  ADMIN_PASSWORD: z
    .string()
    .describe(
      `password of /iladmin, at least ${MIN_ADMIN_PASSWORD_LENGTH} characters · unset: disabled; in local mode one is generated and printed`,
    ),
  SECRET_KEY: secretKey.describe(
    'the key from which emailed links and codes are derived; the same for all instances · unset: generated and stored in DATA_DIR',
  ),
  SECRET_KEY_PREVIOUS: secretKey.describe(
    'the SECRET_KEY before a rotation; links, codes and encrypted rows that were made with it stay valid · unset: none',
  ),
  TRUST_PROXY: wholeNumber(0, 16).describe('number of proxies in front that add to X-Forwarded-For · unset: 0'),
  MAILS_PER_NETWORK: wholeNumber(1, 100_000).describe(
    `sign-in emails that one network address may request in an hour; an IPv6 /48 or IPv4 /24 may request ${MAIL_BLOCK_FACTOR} times as many · unset: ${RATE_LIMITS.mails_from_network.points}`,
  ),
  WORKERS: wholeNumber(1, 128).describe('number of worker processes, to use more cores · unset: 1'),
  DRAIN_SECONDS: wholeNumber(0, 300).describe(
    'how long /readyz responds with 503 before the listener closes · unset: 5 in production, 0 in local mode',
  ),
  KEEP_ALIVE_SECONDS: wholeNumber(5, 3_600).describe(
    'how long an idle connection stays open; more than the idle time-out of a load balancer in front · unset: 65',
  ),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `give one of ${LOG_LEVELS.join(', ')}` }).describe('lowest level that is logged · unset: info'),
  METRICS_TOKEN: printable.describe(
    'bearer token of /metrics · unset: only programs on this machine can read it, and with a proxy in front none can',
  ),
  AUDIT_LOG: z
    .literal('stdout', { error: 'give stdout, or leave it unset' })
    .describe('stdout: every row of the audit log is printed there as a line of JSON · unset: it stays in the database only'),
  RETENTION_AUDIT_DAYS: wholeNumber(MAX_LOG_DAYS, MAX_RETENTION_DAYS).describe(
    'how long rows of the audit log are kept, in days · unset: 400',
  ),
  RETENTION_ATTEMPT_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).describe('how long ended sign-in attempts are kept, in days · unset: 1'),
  RETENTION_TOKEN_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).describe('how long expired sign-in tokens are kept, in days · unset: 1'),
  RETENTION_EXPORT_DIR: refined(isWritableDirectory, 'give an existing directory that this user may write to')
    .transform((text) => resolve(text))
    .describe('where rows of the audit log are written to before they are dropped · unset: they are dropped'),
  EVP: z
    .enum(['on', 'off'], { error: 'give on or off' })
    .describe(
      'experimental: browsers with the Email Verification Protocol sign in without an email · unset: on in local mode, off in production',
    ),
  EVP_ORIGIN_TRIAL_TOKEN: refined(
    isOriginTrialToken,
    "give the token that Chrome's origin trial EmailVerificationProtocol has issued",
  ).describe(
    "experimental: the token for PUBLIC_URL of Chrome's origin trial EmailVerificationProtocol · unset: only browsers with its flag take part",
  ),
  PASSKEY_RP_ID: refined(isDomainName, 'give a host name in lower case, such as auth.example.com').describe(
    'the host whose passkeys the service uses, when it is not its own · unset: the host of PUBLIC_URL',
  ),
  PASSKEY_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine(
      (origins) => origins.length <= MAX_RELATED_ORIGINS && origins.every(isRelatedOrigin),
      `give at most ${MAX_RELATED_ORIGINS} origins such as https://login.example.net, separated by commas`,
    )
    .describe('other origins that may use the passkeys of this host (Related Origin Requests) · unset: none'),
  MCP_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine((origins) => origins.every(isCallingOrigin), {
      error: 'give origins such as https://inspector.example or http://localhost:6274, separated by commas',
    })
    .describe(
      'origins whose pages may call /mcp with a bearer token, and register OAuth clients · unset: all in production, none in local mode',
    ),
  DNS_SERVERS: z
    .string()
    .transform((text) => text.split(',').map((server) => server.trim()))
    .refine((servers) => servers.every(isServerAddress), { error: 'give addresses such as 9.9.9.9 or 127.0.0.1:5353, separated by commas' })
    .describe("DNS servers for domain proofs and the Email Verification Protocol · unset: the system's"),
  S3_ENDPOINT: refined(isOrigin, 'give scheme and host only, such as https://s3.eu-central-1.amazonaws.com')
    .transform((text) => new URL(text).origin)
    .describe('S3-compatible server for uploaded icons, with path-style URLs · unset: they are stored in DATA_DIR/uploads'),
  S3_BUCKET: refined(
    (text) => /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i.test(text),
    'give the name of a bucket, such as emailauth-icons',
  ).describe('its bucket'),
  S3_REGION: refined(
    (text) => /^[a-z0-9-]+$/i.test(text),
    'give a region, such as eu-central-1; many servers accept us-east-1 or auto',
  ).describe('its region, as the signature names it'),
  S3_ACCESS_KEY_ID: printable.describe('an access key that may put, get and delete objects of the bucket'),
  S3_SECRET_ACCESS_KEY: printable.describe('its secret'),
};

export type Settings = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]> };

/** Where the payload of an origin trial token begins: after its version, signature and length. */
const TRIAL_PAYLOAD = 69;

/** Returns whether a text is a token of Chrome's origin trial of the Email Verification Protocol. Only the browser can verify its signature. */
function isOriginTrialToken(text: string): boolean {
  try {
    const { feature } = JSON.parse(Buffer.from(text, 'base64').toString('utf8', TRIAL_PAYLOAD));
    return /^[A-Za-z0-9+/=]+$/.test(text) && feature === 'EmailVerificationProtocol';
  } catch {
    return false;
  }
}

function isWritableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Returns whether a text is only scheme and host of an http(s) URL. */
function isOrigin(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.href === `${url.origin}/` && !text.includes('?') && !text.includes('#');
}

/** Returns whether a text is a host name that can be an RP ID: no IP address (WebAuthn Level 3 §5.1.3). */
function isDomainName(text: string): boolean {
  return text === 'localhost' || (isIP(text) === 0 && normalHost(text) === text);
}

/** Returns whether a text is an origin as browsers write it, over https or of this machine. */
function isCallingOrigin(text: string): boolean {
  if (!isOrigin(text) || new URL(text).origin !== text) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || isThisMachine(hostname);
}

/** Returns whether a text is an origin that may use the passkeys of another host. */
const isRelatedOrigin = (text: string): boolean => isCallingOrigin(text) && isDomainName(new URL(text).hostname);

/** Returns whether a text is the selector of a DKIM key: labels of a DNS name (RFC 6376 §3.1), which some providers write with underscores. */
function isSelector(text: string): boolean {
  return text.length <= 200 && text.split('.').every((label) => /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/i.test(label));
}

/** Returns whether a text is an IP address, with or without a port. */
function isServerAddress(text: string): boolean {
  if (isIP(text)) return true;
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  return match !== null && isIP(match[1] ?? match[2]) === (match[1] ? 6 : 4) && Number(match[3]) <= 65_535;
}

/** Returns the PEM text in a setting, or in the file that it names; empty when the file cannot be read. */
function readPem(text: string): string {
  if (text.includes('-----BEGIN')) return text.replaceAll('\\n', '\n');
  try {
    return readFileSync(text, 'utf8');
  } catch {
    return '';
  }
}

/** Returns whether a PEM text is an RSA private key. */
function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
