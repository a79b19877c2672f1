import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Parsed } from '../../contract/calls.ts';
import { ENTERED, type Entered, type EnteredMethod, mapEntered } from '../../contract/entered.ts';
import { MAX_CODE_TRIES } from '../../contract/limits.ts';
import { type OwnAttempt, SIGN_IN_PATHS } from '../../contract/pages.ts';
import type { AttemptStatus, Conditions, Destination } from '../../contract/signin.ts';
import { createAuthKey } from '../developers/browser.ts';
import type { Mail, MailSecrets } from '../mail/mail.ts';
import type { Database } from '../platform/db/database.ts';
import type { SecretKeys } from '../platform/secrets.ts';
import { endedBySibling, isKnown, LIFE } from './attempt-conditions.ts';
import { conditionsOf, type Destinations, type ParsedDestination } from './destination.ts';
import { GUESSES, isGuessed } from './guesses.ts';

/**
 * What an attempt signs in to: a website, the portal by its token, an OAuth client with PKCE, or a client of OpenID Connect.
 * `registration`, `invitation`: the portal too, by the email about the registration of a domain or an invitation to a team.
 */
export type AttemptKind = 'site' | 'portal' | 'app' | 'oidc' | 'registration' | 'invitation';

/** The first byte of a link secret. */
const KIND_BYTES: Record<AttemptKind, number> = { site: 1, portal: 2, app: 3, oidc: 4, registration: 5, invitation: 6 };
const KINDS = new Map(Object.entries(KIND_BYTES).map(([kind, byte]) => [byte, kind as AttemptKind]));
const ID_BYTES = 16;
/** So many bytes of its HMAC are in a link secret (RFC 2104 §5), which makes it 48 bytes long: base64url without a rest. */
const LINK_MAC_BYTES = 31;
const LINK = /^[A-Za-z0-9_-]{64}$/;

/** What the opening of an attempt issues: a token, and the key of the remembered account. */
export type IssuedSecrets = { token: string; authKey: ReturnType<typeof createAuthKey> };

/**
 * The link secret and the codes that one email carries, and what the opening of the attempt issues. All derive from the attempt's id, so
 * that none is stored, and an opening that is repeated issues the same. Programs know the id, so that only SECRET_KEY makes them secret.
 */
export class AttemptSecrets {
  readonly #keys: SecretKeys;

  constructor(keys: SecretKeys) {
    this.#keys = keys;
  }

  /** Returns the secret of the link: base64url(kind ‖ attempt id ‖ HMAC-SHA256), 64 characters. */
  link(kind: AttemptKind, id: string): string {
    const bytes = idToBytes(id);
    return Buffer.concat([Buffer.of(KIND_BYTES[kind]), bytes, linkMac(this.#keys.writing, kind, bytes)]).toString('base64url');
  }

  /** Returns what the same email has to enter by a method. */
  entered(method: EnteredMethod, kind: AttemptKind, id: string): string {
    return enteredOf(this.#keys.writing, method, kind, id);
  }

  /** Returns the attempt of a link secret, or null when this service did not issue it. */
  readLink(secret: string): { kind: AttemptKind; id: string } | null {
    if (!LINK.test(secret)) return null;
    const bytes = Buffer.from(secret, 'base64url');
    const kind = KINDS.get(bytes[0]);
    const id = bytes.subarray(1, 1 + ID_BYTES);
    const given = bytes.subarray(1 + ID_BYTES);
    const isIssued = kind && this.#keys.reading.some((key) => timingSafeEqual(linkMac(key, kind, id), given));
    return isIssued ? { kind, id: bytesToId(id) } : null;
  }

  /** Compares what was entered in constant time. */
  isEntered({ method, value }: Entered, kind: AttemptKind, id: string): boolean {
    if (value.length !== ENTERED[method].places) return false;
    return this.#keys.reading.some((key) => timingSafeEqual(Buffer.from(enteredOf(key, method, kind, id)), Buffer.from(value)));
  }

  /** Returns what the opening of an attempt issues. */
  issue(kind: AttemptKind, id: string): IssuedSecrets {
    return issuedBy(this.#keys.writing, kind, id);
  }

  /** Returns what the opening of an attempt may have issued: another instance may have used the other key during a rotation. */
  issued(kind: AttemptKind, id: string): IssuedSecrets[] {
    return this.#keys.reading.map((key) => issuedBy(key, kind, id));
  }

  /**
   * Returns the link of an email and what is entered, the same at each try; null for an email that signs no one in.
   * @param publicUrl origin of the service
   */
  ofMail({ id, language, data }: Mail, publicUrl: string): MailSecrets | null {
    const kind = data.attempt as AttemptKind | undefined;
    if (!kind) return null;
    const secret = this.link(kind, id);
    // RFC 6749 §4.1.2 with the issuer of RFC 9207, for the portal's own page; every other link opens the link page.
    const link =
      kind === 'app' && data.state !== undefined
        ? `${publicUrl}${SIGN_IN_PATHS.callback}?${new URLSearchParams({ code: secret, state: data.state, iss: publicUrl, language })}`
        : `${publicUrl}${SIGN_IN_PATHS.link}?t=${secret}`;
    return { link, entered: hasCode(kind) ? mapEntered((method) => this.entered(method, kind, id)) : null };
  }
}

/** Returns whether the email of an attempt has a code: not when no browser began it, since there is no window in which to enter one. */
export function hasCode(kind: AttemptKind): boolean {
  return kind !== 'registration' && kind !== 'invitation';
}

type Use = 'link' | EnteredMethod | 'token' | 'selector' | 'verifier';

function mac(key: Buffer, kind: AttemptKind, use: Use, id: Buffer): Buffer {
  return createHmac('sha256', key).update(`${kind}|${use}|`).update(id).digest();
}

const linkMac = (key: Buffer, kind: AttemptKind, id: Buffer) => mac(key, kind, 'link', id).subarray(0, LINK_MAC_BYTES);

function issuedBy(key: Buffer, kind: AttemptKind, id: string): IssuedSecrets {
  const macOf = (use: Use) => mac(key, kind, use, idToBytes(id));
  const authKey = createAuthKey(macOf('selector').subarray(0, 16), macOf('verifier').toString('base64url'));
  return { token: macOf('token').toString('base64url'), authKey };
}

/** Returns the value with the number that 48 bits of the HMAC give: many more than there are values, so that these are equally likely. */
function enteredOf(key: Buffer, method: EnteredMethod, kind: AttemptKind, id: string): string {
  const { values, valueAt } = ENTERED[method];
  return valueAt(mac(key, kind, method, idToBytes(id)).readUIntBE(0, 6) % values);
}

/** Returns the 16 bytes of a UUID in base64url: the handle of an attempt that a program gets. */
export function idToHandle(id: string): string {
  return idToBytes(id).toString('base64url');
}

/** Returns the UUID of a handle, or null when it is not a handle. */
export function handleToId(handle: string): string | null {
  const bytes = Buffer.from(handle, 'base64url');
  return bytes.length === ID_BYTES ? bytesToId(bytes) : null;
}

function idToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function bytesToId(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** What the destinations of two attempts have in common that lead to the same place. */
type Place = { to: 'portal' } | { to: 'website'; url: string; conditions: Conditions } | { to: 'application'; interaction: string };

function placeOf(destination: Destination): Place {
  if (destination.to === 'application') return { to: 'application', interaction: destination.interaction };
  return destination.to === 'portal' ? { to: 'portal' } : { to: 'website', url: destination.url, conditions: destination.conditions };
}

/** The hashed cookies of a browser; `device` is null when it has none. */
type OwnBrowser = { attempt: Buffer; device: Buffer | null };

/**
 * Returns the status of an attempt, as SQL. A sign-in remembers the account on the device of the browser that completed it, in the
 * transaction that uses the attempt up. $2 device.
 * @param guesses the limit of wrong codes for a mailbox, as SQL
 */
const statusOf = (guesses: string) => `case
    when a.consumed_at is not null or ${endedBySibling('a')} then
      case when exists (
        select from remembered_keys k where k.device = $2 and k.email = a.email and k.rotated_at >= coalesce(a.consumed_at, a.expires_at - ${LIFE})
      ) then 'opened' else 'opened_elsewhere' end
    when a.mail_failed then 'mail_failed'
    when a.expires_at <= now() then 'expired'
    when a.code_tries >= ${MAX_CODE_TRIES} then 'code_spent'
    when a.code_tries > 0 and ${isGuessed('coalesce(a.mailbox, a.email)', guesses)} and not ${isKnown('$2', 'a.email')} then 'code_spent'
    else 'waiting' end`;

const NEWEST_STATUS = `
select ${statusOf('$4')} as status from sign_in_attempts a where browser = $1 and email = $3 order by id desc limit 1`;

const NEWEST_FOR_DESTINATION = `
select a.id, a.email, a.state, ${statusOf('$4')} as status, greatest(0, ceil(extract(epoch from a.expires_at - now())))::integer as "secondsLeft"
from sign_in_attempts a
where a.browser = $1 and a.destination @> $3::jsonb and ($5::text is null or a.email = $5)
order by a.id desc limit 1`;

/** The attempts of a browser, as it may see them itself. */
export class OwnAttempts {
  readonly #core: Database['core'];
  readonly #portalHome: string;
  readonly #guesses: number;

  /**
   * @param destinations.portalHome the forward_url of the portal
   * @param limitFactor multiplies the limit of wrong codes for a mailbox
   */
  constructor(core: Database['core'], { portalHome }: Destinations, limitFactor: number) {
    this.#core = core;
    this.#portalHome = portalHome;
    this.#guesses = GUESSES.points * limitFactor;
  }

  /** Returns the status of a browser's newest attempt for an address, and for a destination if one is given; `expired` when there is none. */
  async status(browser: OwnBrowser, { email, ...parameters }: Parsed<'attempt'>): Promise<AttemptStatus> {
    const place = this.#placeIn(parameters);
    if (place) return (await this.#newest(browser, place, email))?.status ?? 'expired';
    const { attempt, device } = browser;
    const values = [attempt, device, email, this.#guesses];
    const { rows } = await this.#core.query<{ status: AttemptStatus }>({ name: 'signin-status', text: NEWEST_STATUS, values });
    return rows[0]?.status ?? 'expired';
  }

  /** Returns a browser's newest attempt for a destination, or null. @param email only for this address */
  newest(browser: OwnBrowser, destination: Destination, email?: string): Promise<OwnAttempt | null> {
    return this.#newest(browser, placeOf(destination), email);
  }

  async #newest({ attempt, device }: OwnBrowser, place: Place, email?: string): Promise<OwnAttempt | null> {
    const values = [attempt, device, place, this.#guesses, email ?? null];
    const { rows } = await this.#core.query<OwnAttempt>({ name: 'signin-own-attempt', text: NEWEST_FOR_DESTINATION, values });
    return rows[0] ?? null;
  }

  #placeIn({ interaction, forward_url, ...asked }: ParsedDestination): Place | null {
    if (interaction !== undefined) return { to: 'application', interaction };
    if (forward_url === undefined) return null;
    return forward_url === this.#portalHome ? { to: 'portal' } : { to: 'website', url: forward_url, conditions: conditionsOf(asked) };
  }
}
