import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from './check.ts';
import { parseSetCookies } from './request.ts';

/** A website that is registered at the local service for tokens that are not for the website under test (RFC 2606). */
const OTHER_DOMAIN = 'other-website.example';
const OTHER_OWNER = `owner@${OTHER_DOMAIN}`;
const OTHER_VISITOR = `visitor@${OTHER_DOMAIN}`;
const INBOX_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

/** Signs visitors in at a service in local mode, by reading the emails of its inbox. */
export class LocalInbox {
  readonly #origin: string;
  readonly #signal: AbortSignal;

  /** @param origin of a service in local mode without a mail server */
  constructor(origin: string, signal: AbortSignal) {
    this.#origin = origin;
    this.#signal = signal;
  }

  /** Returns a new email address of a visitor. */
  newAddress(): string {
    return `visitor-${randomBytes(6).toString('hex')}@mail.example`;
  }

  /**
   * Signs a visitor in, as far as the redirect back to the website.
   * @returns the forward_url with a token
   * @throws Error with what the service said
   */
  async signIn(forwardUrl: string, email: string): Promise<URL> {
    const earlier = new Set((await this.#messagesTo(email)).map(({ id }) => id));
    const request = await this.#post('/api/auth/domain-auth', { email, forward_url: forwardUrl });
    if (!request.ok) throw new Error(`the service refused the sign-in: ${await messageOf(request)}`);
    const cookies = parseSetCookies(request.headers.getSetCookie());
    const { pathname, search } = new URL(await this.#linkTo(email, earlier));
    const opened = await this.#fetch(pathname + search, {
      headers: { Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
      redirect: 'manual',
    });
    const location = opened.headers.get('location') ?? '';
    if (opened.status !== 303 || !URL.canParse(location)) throw new Error(`the link of the email returned ${opened.status}`);
    return new URL(location);
  }

  /** Returns a valid token of another website. @throws Error with what the service said */
  async tokenOfOtherWebsite(): Promise<string> {
    const registered = await this.#post('/api/websites/register', { domain: OTHER_DOMAIN, email: OTHER_OWNER });
    // 409: an earlier check has registered it.
    if (!registered.ok && registered.status !== 409)
      throw new Error(`the service did not register a website: ${await messageOf(registered)}`);
    const callback = await this.signIn(`https://${OTHER_DOMAIN}/`, OTHER_VISITOR);
    return callback.searchParams.get('token') ?? '';
  }

  async #linkTo(email: string, earlier: ReadonlySet<string>): Promise<string> {
    const end = Date.now() + INBOX_TIMEOUT_MS;
    while (Date.now() < end) {
      const message = (await this.#messagesTo(email)).find(({ id, link }) => !earlier.has(id) && /\/auth\/link\?/.test(link));
      if (message) return message.link;
      await pause(POLL_MS, undefined, { signal: this.#signal });
    }
    throw new Error(`no email arrived in ${this.#origin}/dev/inbox`);
  }

  async #messagesTo(email: string): Promise<{ id: string; link: string }[]> {
    const response = await this.#fetch(`/dev/inbox/messages.json?${new URLSearchParams({ to: email })}`);
    if (!response.ok) throw new Error(`${this.#origin} has no inbox (${response.status})`);
    return response.json() as Promise<{ id: string; link: string }[]>;
  }

  #post(path: string, body: object): Promise<Response> {
    return this.#fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  }

  #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#origin + path, { ...init, signal: this.#signal });
  }
}

/** Returns whether a service has an inbox that this machine can read: in local mode, without a mail server. */
export async function hasInbox(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/dev/inbox/messages.json?to=nobody`, { redirect: 'error', signal });
    return response.ok && Array.isArray(await response.json());
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function messageOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as { error?: unknown };
  return oneLine(typeof body.error === 'string' ? body.error : `status ${response.status}`);
}
