import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { isThisMachine, LOCALHOST } from '../../contract/urls.ts';
import { openDns } from '../../diagnostics/dns.ts';
import type { Remedies, Target } from '../../diagnostics/website.ts';
import { beginChange } from '../permissions/proofs.ts';
import { queryOf } from '../platform/db/database.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Platform } from '../platform/platform.ts';
import { isPublicAddress } from './guarded-fetch.ts';
import { findManaged } from './managers.ts';

/** Time limit for all requests of one check. */
const CHECK_MS = 12_000;
/** The same with the statements around them. */
const TIMEOUT_SECONDS = 18;

const remedies: Remedies = {
  urlOption: 'the field “Address of the callback”',
  writeCallback: 'The code of your framework on this page has one.',
  signIn: 'Sign in, and try again.',
  prove: () => 'verify it in the settings of the website',
  register: () => 'add it in the portal',
  wholeSignIn: 'Run `emailauth try` in the project.',
  nameLogin: 'Let /login of the website begin the sign-in, or link to the page that does from its first page.',
};

type Parts = Pick<Platform, 'config' | 'database' | 'isLocal' | 'limits' | 'publicUrl'>;
type Check = Output<'checkCallback'>;

/**
 * The checks of callbacks, which the set-up of a website shows. The service requests the website's own hosts only, without credentials, at
 * addresses of the public internet; in local mode also those of its own machine.
 */
export class CallbackChecks {
  readonly #parts: Parts;
  /** Accounts whose check is running: one at a time, so that no one has the service connect to many hosts. */
  readonly #checking = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Checks the login and the callback of a website from outside, and stores the result with an audit row.
   * @throws Fault bad_request for an address that is not on the website, rate_limited, website_not_found
   */
  async check(account: Account, { id, url }: Parsed<'checkCallback'>): Promise<Check> {
    const { database, limits } = this.#parts;
    const { email } = account;
    const orm = await database.orm();
    const { website } = await findManaged(orm, email, id);
    const target = await this.#targetOf(website.domain, url || undefined);
    await limits.hit('callback_checks', email);
    // Anyone can register the domain of someone else.
    if (website.provenAt === null) await limits.hit('site_checks', email);
    if (this.#checking.has(email)) throw new Fault('rate_limited', { message: 'A check of yours is running already.', retryAfter: 5 });
    this.#checking.add(email);
    try {
      const results = await this.#run(target);
      const callback = target.callback.href;
      const at = await orm.sequelize.transaction(async (transaction) => {
        await beginChange(queryOf(orm.sequelize, transaction), account);
        const found = await findManaged(orm, email, id, transaction);
        // It was moved during the check.
        if (found.website.domain !== website.domain) throw new Fault('website_not_found');
        await orm.WebsiteCheck.destroy({ where: { websiteId: id }, transaction });
        const stored = await orm.WebsiteCheck.create({ websiteId: id, at: orm.time('now()'), callback, results }, { transaction });
        const { domain } = website;
        await orm.AuditEntry.create(
          { action: 'callback_checked', ...actorOf(account), websiteId: id, domain, object: callback },
          { transaction },
        );
        return stored.at;
      });
      return { callback, at: at.toISOString(), results };
    } finally {
      this.#checking.delete(email);
    }
  }

  /** @throws Fault bad_request */
  async #targetOf(domain: string, url: string | undefined): Promise<Target & { callback: URL }> {
    const { isLocal } = this.#parts;
    const { parseTarget } = await import('../../diagnostics/website.ts');
    const isHere = isLocal && url !== undefined && URL.canParse(url) && isThisMachine(new URL(url).hostname);
    const refuse = (message: string, hint: string) => new Fault('bad_request', { field: 'url', message: `${message} ${hint}` });
    const target = parseTarget(isHere ? LOCALHOST : domain, url, { urlOption: 'The address', refuse });
    const { callback } = target;
    if (!callback || (!isHere && callback.port !== ''))
      throw refuse('The address names a port, but visitors are only sent to port 443.', 'Give the address without a port.');
    return { ...target, callback };
  }

  async #run(target: Target): Promise<Check['results']> {
    const { config, isLocal, publicUrl } = this.#parts;
    const { checkVisible } = await import('../../diagnostics/callback.ts');
    const usesSystemLookup = (host: string) => isLocal && isThisMachine(host);
    const dns = openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress, usesSystemLookup });
    const [signal, deadline] = [new AbortController().signal, AbortSignal.timeout(CHECK_MS)];
    const results = await checkVisible(target, publicUrl, { dns, userAgent: 'emailauth-check', remedies, signal, deadline });
    return results.map(({ id, ok, detail, fix }) => ({ id, ok, detail, fix }));
  }
}

/** Binds the call that checks a callback. */
export function callbackCheckEndpoints(checks: CallbackChecks): Endpoint[] {
  // A website may take its time to respond.
  return [handle('checkCallback', (input, { account }) => checks.check(account, input), { timeoutSeconds: TIMEOUT_SECONDS })];
}
