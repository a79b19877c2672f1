import type pg from 'pg';
import { v7 as uuid } from 'uuid';
import type { Parsed } from '../../contract/calls.ts';
import { maskEmail } from '../../contract/emails.ts';
import { Fault } from '../../contract/errors.ts';
import { TOKEN_SECONDS } from '../../contract/limits.ts';
import { type Browser, type NewSession, SESSION_SECONDS } from '../developers/browser.ts';
import { raiseGenerations } from '../permissions/conditions.ts';
import { BEGIN_SESSION_CHANGE, notBeingSignedOut } from '../permissions/sign-outs.ts';
import { inTransaction } from '../platform/db/database.ts';
import { blockOfNetwork } from '../platform/http/client-address.ts';
import { digest } from '../platform/secrets.ts';
import type { IssuedSecrets } from './attempts.ts';
import { completeSignIns, issueIn } from './complete.ts';

/** A statement that uses up what a session is opened with. */
type Grant = {
  /** Of the prepared statement. */
  name: string;
  /**
   * Returns one row with `email`, `mailbox` (null where the sign-in has ended its counter of wrong codes), `proven_at` and `method` (null for
   * an authorization code, which does not contain it), or none. Its parameters begin at $9.
   */
  person: string;
  values: unknown[];
};

/**
 * Opens a session for the person of a grant. The other sessions of the browser end, and the person's websites count as claimed. $1 account,
 * $2 session, $3 device, $4 selector, $5 verifier, $6 label, $7 the session that the browser had until now, $8 the block of its
 * network address.
 */
const openFor = (person: string) => `
with person as (${person}),
${completeSignIns('person', {
  method: 'method',
  audit: { action: "'developer_signed_in'", device: '$6::text', network: '$8::text' },
  session: { userId: '$1::uuid', hash: '$2::bytea', device: '$3::bytea', label: '$6::text', seconds: SESSION_SECONDS },
  remembered: { device: '$3::bytea', label: '$6::text', selector: '$4::bytea', verifier: '$5::bytea', provenAt: 'proven_at' },
})},
replaced as (
  delete from sessions s using person where s.client_id is null and (s.device = $3 or s.hash = $7) returning s.user_id
),
raised as (${raiseGenerations('(select u.email from users u join replaced r on r.user_id = u.id join person p on p.email <> u.email) ended')}),
claimed as (
  update websites w set claimed_at = now() from person p where w.email = p.email and w.claimed_at is null
)
select email from person`;

const PORTAL_TOKEN = `
  update tokens set used_at = now()
  where hash = $9 and domain is null and interaction is null and used_at is null and expires_at > now() and ($11 or browser = $10)
    and ${notBeingSignedOut('email')}
  returning email, null::text as mailbox, coalesce(proven_at, expires_at - interval '${TOKEN_SECONDS} seconds') as proven_at, method`;

const FIND_PORTAL_TOKEN =
  'select email from tokens where hash = $1 and domain is null and interaction is null and used_at is null and expires_at > now()';

/**
 * Opens the sessions of developers. A browser has at most one: signing in and logging out lock its device, so that each sees the session
 * that the other one opened or ended.
 */
export class PortalSessions {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /**
   * Opens a session for the person of a grant. Returns null when the grant is not valid.
   * @param secrets of the session, which is the `token`; random ones unless they are given
   */
  async open({ name, person, values }: Grant, browser: Browser, secrets?: IssuedSecrets): Promise<NewSession | null> {
    const { token, key, stored } = await issueIn(browser, secrets);
    const { tokenHash, device, selector, verifier, label } = stored;
    const replaced = browser.session === undefined ? null : digest(browser.session);
    const issued = [uuid(), tokenHash, device, selector, verifier, label, replaced, blockOfNetwork(browser.clientAddress)];
    const [opened] = await inTransaction(this.#core, async (query) => {
      await query('signin-lock-device', BEGIN_SESSION_CHANGE, [device]);
      return query<{ email: string }>(name, openFor(person), [...issued, ...values]);
    });
    return opened ? { email: opened.email, session: token, authKey: key } : null;
  }

  /**
   * Opens a session with the portal's own token, after a confirmation when another browser began the attempt or another account
   * is signed in.
   * @param signedIn the account that is signed in in the browser
   * @throws Fault bad_token, confirmation_needed
   */
  async tokenLogin(
    { token, confirm = false }: Parsed<'tokenLogin'>,
    browser: Browser,
    signedIn: { email: string } | null,
  ): Promise<NewSession> {
    const hash = digest(token);
    const mayReplace = confirm || signedIn === null || signedIn.email === (await this.#addressOf(hash));
    if (mayReplace) {
      const grant = { name: 'signin-token-login', person: PORTAL_TOKEN, values: [hash, digest(browser.attempt), confirm] };
      const opened = await this.open(grant, browser);
      if (opened) return opened;
    }
    const unused = await this.#addressOf(hash);
    if (unused) throw new Fault('confirmation_needed', { message: `Sign in as ${maskEmail(unused)}?` });
    throw new Fault('bad_token');
  }

  /** Returns the address of a portal token that can still be used, without using it. */
  async #addressOf(hash: Buffer): Promise<string | null> {
    const query = { name: 'signin-peek-token', text: FIND_PORTAL_TOKEN, values: [hash] };
    return (await this.#core.query<{ email: string }>(query)).rows[0]?.email ?? null;
  }
}
