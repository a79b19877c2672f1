import { Fault } from '../../contract/errors.ts';
import type { SignInBoot } from '../../contract/pages.ts';
import type { Database } from '../db/database.ts';
import type { EventRecorder } from '../events/recorder.ts';
import { uploadPath } from '../uploads/upload-url.ts';
import { audienceOf, displayDomainOf, LOCALHOST, registrableOf } from '../websites/domains.ts';
import { readForwardUrl } from './redirects.ts';
import { testAudience } from './test-audience.ts';

// Parsing a host of many different characters takes quadratic time (Punycode, RFC 3492).
const MAX_URL_LENGTH = 2048;

/**
 * Where a sign-in leads: a registered website, or the portal. `audience`: what the token is for, the host as in audienceOf or a test of the
 * website.
 */
export type Target =
  | { kind: 'portal'; forwardUrl: string }
  | { kind: 'site'; domain: string; host: string; audience: string; forwardUrl: string };

/** What the pages show of a website: icon and color once it is claimed, and its name once its domain is proven. */
export type ShownWebsite = { icon: string | null; name: string | null; accent: string | null };
/** Selects a ShownWebsite. */
export const SHOWN_WEBSITE = `case when w.claimed_at is not null then w.icon end as icon,
  case when w.proven_at is not null then nullif(w.name, '') end as name,
  case when w.claimed_at is not null then nullif(w.accent, '') end as accent`;
const REGISTERED = `select ${SHOWN_WEBSITE} from websites w where domain = $1`;
const ADD_LOCALHOST = `
insert into websites (id, domain, claimed_at) values ($1, '${LOCALHOST}', now()) on conflict (domain) do nothing`;

/** Authorization requests that wait for their person (server/oidc/interactions.ts). */
export type InteractionTargets = {
  /** @throws Fault interaction_ended */
  waiting(uid: string): Promise<{
    clientId: string;
    redirectUri: string;
    /** Where the person continues after the sign-in. */
    url: string;
    /** What the token of the sign-in is for, by the method that identified the person. */
    tokenHost: Record<'email' | 'remembered', string>;
    /** The application asks for a new authentication, so that a remembered account is not enough. */
    mustBeFresh: boolean;
  }>;
};

type Parts = { publicUrl: string; local: boolean; core: Database['core']; events: Pick<EventRecorder, 'record'> };

/** Where forward_urls lead. */
export class Targets {
  readonly portalHome: string;
  /** What the addresses of websites' pages in the portal begin with. */
  readonly #websitePages: string;
  readonly #local: boolean;
  readonly #core: Database['core'];
  readonly #events: Pick<EventRecorder, 'record'>;

  /** @param parts.local local mode: a forward_url may lead to this machine */
  constructor({ publicUrl, local, core, events }: Parts) {
    this.portalHome = `${publicUrl}/developer`;
    this.#websitePages = `${publicUrl}/dashboard/websites/`;
    this.#local = local;
    this.#core = core;
    this.#events = events;
  }

  /**
   * Returns where a forward_url leads; the portal when it is not given.
   * @throws Fault bad_forward_url
   */
  of(forwardUrl: string | undefined): Target {
    if (forwardUrl === undefined || forwardUrl === this.portalHome) return { kind: 'portal', forwardUrl: this.portalHome };
    const tested = this.#testedDomain(forwardUrl);
    if (tested) return { kind: 'site', domain: tested, host: tested, audience: testAudience(tested), forwardUrl };
    const { host } = this.#read(forwardUrl);
    const domain = registrableOf(host);
    if (!domain) throw new Fault('bad_forward_url', { message: 'The forward_url must be on a registered domain.', field: 'forward_url' });
    return { kind: 'site', domain, host, audience: audienceOf(host), forwardUrl };
  }

  /** Returns the domain of which a forward_url is the page for test sign-ins, or null. */
  #testedDomain(forwardUrl: string): string | null {
    if (!forwardUrl.startsWith(this.#websitePages) || forwardUrl.length > MAX_URL_LENGTH) return null;
    const [domain, page, ...rest] = forwardUrl.slice(this.#websitePages.length).split('/');
    return page === 'test' && rest.length === 0 && domain !== LOCALHOST && registrableOf(domain) === domain ? domain : null;
  }

  /** Returns what the sign-in page shows for the forward_url in its address. Never throws for a bad one. */
  async ofPage(forwardUrl: string | string[] | undefined): Promise<SignInBoot['target']> {
    let target: Target;
    try {
      target = this.of(Array.isArray(forwardUrl) ? '' : forwardUrl);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const host = hostOf(String(forwardUrl));
      return { kind: 'unsupported', host, displayHost: displayDomainOf(host), reason: 'bad_forward_url', back: null };
    }
    if (target.kind === 'portal') return { kind: 'portal' };
    const { rows } = await this.#core.query<ShownWebsite>({
      name: 'signin-registered',
      text: REGISTERED,
      values: [target.domain],
    });
    const [website] = rows;
    if (website) return siteTarget(target.host, website);
    const { host, forwardUrl: url } = target;
    return { kind: 'unsupported', host, displayHost: displayDomainOf(host), reason: 'not_registered', back: new URL(url).origin };
  }

  /** @throws Fault bad_forward_url, which the owner of the domain sees as an event */
  #read(forwardUrl: string): { host: string } {
    try {
      return readForwardUrl(forwardUrl, this.#local);
    } catch (error) {
      const domain = registrableOf(hostOf(forwardUrl));
      if (domain) void this.#events.record({ domain, kind: 'request_refused', reason: 'forward_url' });
      throw error;
    }
  }

  /** Registers `localhost` without an owner, so that local mode accepts any app under development. */
  async addLocalhost(id: string): Promise<void> {
    await this.#core.query(ADD_LOCALHOST, [id]);
  }
}

/** Returns what a page shows of a website, or of an application by its host alone. */
export function siteTarget(host: string, website: ShownWebsite | null): Extract<SignInBoot['target'], { kind: 'site' }> {
  const { icon = null, name = null, accent = null } = website ?? {};
  return { kind: 'site', host, displayHost: displayDomainOf(host), iconUrl: icon && uploadPath(icon), name, accent };
}

/** Returns the host of a URL for a page; an empty text when the URL is not valid or too long. */
function hostOf(text: string): string {
  return text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text).hostname : '';
}
