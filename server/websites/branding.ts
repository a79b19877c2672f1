import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { User, Website } from '../db/models.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import type { Logos } from './logo.ts';
import { findManaged, type Managed } from './managers.ts';

type Branding = Output<'websiteBranding'>;

type Parts = { database: Pick<Database, 'orm'>; logos: Pick<Logos, 'check'> };

/** How the sign-in page and the emails of each website look. */
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
  async save({ email }: Account, { id, name, accent, fromName, logoUrl }: Parsed<'saveWebsiteBranding'>): Promise<Branding> {
    const { database, logos } = this.#parts;
    const orm = await database.orm();
    const { website: before } = await findManaged(orm, email, id);
    if (logoUrl !== before.brandLogoUrl) await logos.check(logoUrl, email);
    const managed = await orm.sequelize.transaction(async (transaction) => {
      const found = await findManaged(orm, email, id, transaction);
      const { website } = found;
      website.set({ name, accent, brandName: fromName, brandLogoUrl: logoUrl });
      if (!website.changed()) return found;
      await website.save({ transaction });
      await orm.AuditEntry.create({ action: 'website_branding_changed', email, domain: website.domain }, { transaction });
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
    const user: Pick<User, 'brandName' | 'brandLogoUrl'> | null = await User.findOne({ attributes: ['brandName', 'brandLogoUrl'], where });
    return { fromName: user?.brandName ?? '', logoUrl: user?.brandLogoUrl ?? '' };
  }
}

/**
 * Returns the branding of the emails of a website with a proven domain, as the statement of sign-in requests does
 * (server/signin/request-store.ts).
 */
export function mailBrandOf(branding: Omit<Branding, 'defaults'>, defaults: Branding['defaults']): Record<string, string> {
  return {
    fromName: branding.fromName || defaults.fromName || branding.name,
    logoUrl: branding.logoUrl || defaults.logoUrl,
    accent: branding.accent,
  };
}

export function brandingRoutes(brandings: WebsiteBrandings): Served[] {
  return [
    serve('websiteBranding', ({ id }, { account }) => brandings.read(account, id)),
    // A host of a logo may take its time to respond.
    serve('saveWebsiteBranding', (input, { account }) => brandings.save(account, input), { timeoutSeconds: 15 }),
  ];
}
