import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import type { Parsed } from '../../contract/routes.ts';
import { maskEmail } from '../../contract/rules.ts';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';
import { type Browser, createAuthKey, deviceLabelOf, type NewSession } from './browser.ts';
import type { Grant, Issue, SessionStore, SessionUser } from './session-store.ts';

/** Returns the public id of a device: the first 16 bytes of the hash of its cookie, in hex so that a command never reads it as a flag. */
export function deviceIdOf(device: Buffer): string {
  return device.toString('hex', 0, 16);
}

/** Sessions of developers: in a browser by its `sid` cookie, in a program by a bearer token. */
export class Sessions {
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** Opens a session for the person of a grant. Returns null when the grant is not valid. */
  async open(grant: Grant, browser: Browser): Promise<NewSession | null> {
    const { issue, session, authKey } = await newIssue(browser);
    const email = await this.#store.open(grant, issue);
    return email === null ? null : { email, session, authKey };
  }

  /**
   * Opens a session with the portal's own token, after a confirmation when another browser began the attempt or another account
   * is signed in.
   * @throws Fault bad_token, confirmation_needed
   */
  async tokenLogin({ token, confirm }: Parsed<'tokenLogin'>, browser: Browser, signedIn: SessionUser | null): Promise<NewSession> {
    const hash = digest(token);
    const { issue, session, authKey } = await newIssue(browser);
    const mayReplace = confirm || signedIn === null || signedIn.email === (await this.#store.portalTokenEmail(hash));
    if (mayReplace) {
      const portalToken = { hash, browser: digest(browser.attempt), confirmed: confirm ?? false };
      const email = await this.#store.openByPortalToken(portalToken, issue);
      if (email) return { email, session, authKey };
    }
    const unused = await this.#store.portalTokenEmail(hash);
    if (unused) throw new Fault('confirmation_needed', { message: `Sign in as ${maskEmail(unused)}?` });
    throw new Fault('bad_token');
  }

  /** Returns the account of a session secret, from the `sid` cookie or a bearer token, which may be an application's; null when it has ended. */
  accountOf(session: string): Promise<SessionUser | null> {
    return this.#store.user(digest(session));
  }

  /** Returns the account that is signed in in a browser by its `sid` cookie. An application's token in that cookie does not count. */
  async signedInBy(sid: string | undefined): Promise<SessionUser | null> {
    const user = isRandomSecret(sid) ? await this.accountOf(sid) : null;
    return user?.clientId === null ? user : null;
  }

  /**
   * Ends all sessions and keys of the browser's device and of the session's device, or an application's token.
   * @returns whether it was an application's token
   */
  logout(session: string | undefined, device: string | undefined): Promise<boolean> {
    return this.#store.end(session ? digest(session) : null, device ? digest(device) : null);
  }
}

async function newIssue(browser: Browser): Promise<{ issue: Issue; session: string; authKey: string }> {
  const label = await deviceLabelOf(browser.userAgent);
  const session = randomSecret();
  const { key, selector, verifier } = createAuthKey();
  return {
    issue: {
      userId: uuid(),
      session: digest(session),
      device: digest(browser.device),
      selector,
      verifier,
      label,
      replaced: browser.session === undefined ? null : digest(browser.session),
    },
    session,
    authKey: key,
  };
}
