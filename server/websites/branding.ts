import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_LOGO_BYTES } from '../../contract/limits.ts';
import { openDns } from '../../diagnostics/dns.ts';
import { beginChange } from '../permissions/proofs.ts';
import { type Database, queryOf } from '../platform/db/database.ts';
import type { Website } from '../platform/db/models.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Limits } from '../platform/http/limits.ts';
import type { Platform } from '../platform/platform.ts';
import { createGuardedFetch, isPublicAddress, ResponseTooLarge } from './guarded-fetch.ts';
import { findManaged, type Managed } from './managers.ts';

type Branding = Output<'websiteBranding'>;

type Parts = { database: Database; logos: Logos };

/** The branding of the sign-in page and the emails of each website. */
export class WebsiteBrandings {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws Fault website_not_found */
  async read({ email }: Account, id: string): Promise<Branding> {
    return this.#present(await findManaged(await this.#parts.database.orm(), email, id));
  }

  /**
   * Saves the branding of a website. A logo URL that changes is loaded first. Writes nothing, not even to the audit log, when the
   * branding stays the same.
   * @throws Fault bad_logo, rate_limited, website_not_found
   */
  async save(account: Account, { id, name, accent, fromName, logoUrl }: Parsed<'saveWebsiteBranding'>): Promise<Branding> {
    const { database, logos } = this.#parts;
    const { email } = account;
    const orm = await database.orm();
    const { website: before } = await findManaged(orm, email, id);
    if (logoUrl !== before.brandLogoUrl) await logos.check(logoUrl, email);
    const managed = await orm.sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(orm.sequelize, transaction), account);
      const found = await findManaged(orm, email, id, transaction);
      const { website } = found;
      website.set({ name, accent, brandName: fromName, brandLogoUrl: logoUrl });
      if (!website.changed()) return found;
      await website.save({ transaction });
      await orm.AuditEntry.create(
        { action: 'website_branding_changed', ...actorOf(account), websiteId: website.id, domain: website.domain },
        { transaction },
      );
      return found;
    });
    return this.#present(managed);
  }

  /** Returns the domain and the branding of a website that an account manages, for a preview. @throws Fault website_not_found */
  async forPreview({ email }: Account, domain: string): Promise<{ website: Website; defaults: Branding['defaults'] }> {
    const orm = await this.#parts.database.orm();
    const found = await orm.Website.findOne({ attributes: ['id'], where: { domain }, raw: true });
    if (!found) throw new Fault('website_not_found');
    const { website, linkedAddress } = await findManaged(orm, email, found.id);
    return { website, defaults: await this.#defaultsOf(linkedAddress) };
  }

  async #present({ website, linkedAddress }: Managed): Promise<Branding> {
    const { name, accent, brandName: fromName, brandLogoUrl: logoUrl } = website;
    return { name, accent, fromName, logoUrl, defaults: await this.#defaultsOf(linkedAddress) };
  }

  async #defaultsOf(linkedAddress: string): Promise<Branding['defaults']> {
    const { User } = await this.#parts.database.orm();
    const where = { email: linkedAddress };
    const user = await User.findOne({ attributes: ['brandName', 'brandLogoUrl'], where });
    return { fromName: user?.brandName ?? '', logoUrl: user?.brandLogoUrl ?? '' };
  }
}

/**
 * Returns the branding of the emails of a website with a proven domain, as the statement of sign-in requests does
 * (server/signin/request-store.ts).
 */
export function mailBrandOf(
  branding: Omit<Branding, 'defaults'>,
  defaults: Branding['defaults'],
  iconUrl: string | null,
): Record<string, string> {
  return {
    fromName: branding.fromName || defaults.fromName || branding.name,
    logoUrl: branding.logoUrl || defaults.logoUrl || (iconUrl ?? ''),
    accent: branding.accent,
  };
}

/** Binds the calls of the branding of a website. */
export function brandingEndpoints(brandings: WebsiteBrandings): Endpoint[] {
  return [
    handle('websiteBranding', ({ id }, { account }) => brandings.read(account, id)),
    // A host of a logo may take its time to respond.
    handle('saveWebsiteBranding', (input, { account }) => brandings.save(account, input), { timeoutSeconds: 15 }),
  ];
}

/** The first bytes of the images that mail programs show. */
const SIGNATURES = ['89504e470d0a1a0a', 'ffd8ff', '474946383761', '474946383961'].map((hex) => Buffer.from(hex, 'hex'));

/** Checks that the logo of an email can be loaded by those who read it. */
export class Logos {
  readonly #limits: Limits;
  readonly #fetch: ReturnType<typeof createGuardedFetch>;

  constructor({ config: { dnsServers }, isLocal, limits }: Platform) {
    this.#limits = limits;
    // In local mode, names of a website under development may mean this machine, with a certificate that only its developer trusts.
    const dns = openDns({ servers: dnsServers, isAllowedAddress: isLocal ? null : isPublicAddress });
    this.#fetch = createGuardedFetch({ dns, isLocal, anyCertificate: isLocal, maxBytes: MAX_LOGO_BYTES });
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
