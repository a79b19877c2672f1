import { Fault } from '../../contract/errors.ts';
import { MAX_LOGO_BYTES } from '../../contract/limits.ts';
import { openDns } from '../../diagnostics/dns.ts';
import type { Config } from '../config.ts';
import type { Limits } from '../http/limits.ts';
import { createGuardedFetch, ResponseTooLarge } from './guarded-fetch.ts';
import { isPublicAddress } from './public-addresses.ts';

type Parts = { config: Pick<Config, 'mode' | 'dnsServers'>; limits: Pick<Limits, 'hit'> };

/** The first bytes of the images that mail programs show. */
const SIGNATURES = ['89504e470d0a1a0a', 'ffd8ff', '474946383761', '474946383961'].map((hex) => Buffer.from(hex, 'hex'));

/** Checks that the logo of an email can be loaded by those who read it. */
export class Logos {
  readonly #limits: Pick<Limits, 'hit'>;
  readonly #fetch: ReturnType<typeof createGuardedFetch>;

  constructor({ config: { mode, dnsServers }, limits }: Parts) {
    this.#limits = limits;
    const local = mode === 'local';
    // In local mode, names of a website under development may mean this machine, with a certificate that only its developer trusts.
    const dns = openDns({ servers: dnsServers, isAllowedAddress: local ? null : isPublicAddress });
    this.#fetch = createGuardedFetch({ dns, local, anyCertificate: local, maxBytes: MAX_LOGO_BYTES });
  }

  /**
   * Loads a logo from its public address, without redirects; takes at most 4 s. An empty URL is not loaded.
   * @param email of the account that saves it, for the limit
   * @throws Fault bad_logo, rate_limited
   */
  async check(url: string, email: string): Promise<void> {
    if (url === '') return;
    await this.#limits.hit('logo_checks', email);
    const response = await this.#fetch(url, {
      headers: { Accept: 'image/png,image/jpeg,image/gif', 'User-Agent': 'emailauth-logo' },
    }).catch((error) => {
      throw badLogo(failureOf(error, new URL(url).host), error);
    });
    const message = faultOf(response, Buffer.from(await response.arrayBuffer()));
    if (message) throw badLogo(message);
  }
}

/** Returns why a response is not a logo, or null. */
function faultOf({ status, headers }: Response, body: Buffer): string | null {
  const target = headers.get('location');
  if (status >= 300 && status < 400 && target)
    return `This address redirects to ${target.slice(0, 200)}: enter that one if it shows the logo`;
  if (status !== 200) return `The host responded with the status ${status} instead of an image`;
  if (SIGNATURES.some((signature) => body.subarray(0, signature.length).equals(signature))) return null;
  const type = headers.get('content-type') ?? '';
  if (/svg/i.test(type)) return 'This is an SVG image, which most mail programs do not show: use a PNG or JPG';
  if (/html/i.test(type)) return 'This is the address of a web page, not of an image: copy the address of the image itself';
  return 'This is not a PNG, JPG or GIF image';
}

/** Returns a sentence for an error of the request. */
function failureOf(error: unknown, host: string): string {
  if (error instanceof ResponseTooLarge) return `The logo is larger than ${MAX_LOGO_BYTES / 1024 / 1024} MB: use a smaller image`;
  const { code = '', name, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return `The logo could not be loaded: there is no host ${host}`;
  if (code === 'ENOTPUBLIC') return `The logo could not be loaded: ${host} is not on the public internet`;
  if (name === 'TimeoutError' || name === 'AbortError') return `The logo could not be loaded: ${host} did not respond in time`;
  return `The logo could not be loaded: ${message}`;
}

const badLogo = (message: string, cause?: unknown) => new Fault('bad_logo', { field: 'logoUrl', message, cause });
