import { parse, serialize } from 'cookie';
import { randomSecret } from '../secrets.ts';
import type { OriginalRequest } from './original-request.ts';

const BROWSER_SECONDS = 3600;

/**
 * The cookies of forward authentication on the host of a protected app. `session` holds who is signed in, `browser` a random value that
 * ties a sign-in to the browser in which it began.
 */
export class SessionCookies {
  readonly #received: Record<string, string | undefined>;
  readonly #secure: boolean;

  constructor(header: string | undefined, { origin }: Pick<OriginalRequest, 'origin'>) {
    this.#received = parse(header ?? '');
    this.#secure = origin.startsWith('https:');
  }

  get session(): string | undefined {
    return this.#received[this.#nameOf('session')];
  }

  get browser(): string | undefined {
    return this.#received[this.#nameOf('browser')];
  }

  /** Returns the browser's value, a new one where it has none, and the Set-Cookie header that keeps it. */
  keepBrowser(): { browser: string; header: string } {
    const browser = this.browser || randomSecret();
    return { browser, header: this.#serialize('browser', browser, BROWSER_SECONDS) };
  }

  /** Returns the Set-Cookie header of a session; null ends it. */
  sessionHeader(value: string | null, seconds: number): string {
    return this.#serialize('session', value ?? '', value === null ? 0 : seconds);
  }

  #nameOf(kind: 'session' | 'browser'): string {
    return `${this.#secure ? '__Host-' : ''}emailauth_${kind}`;
  }

  #serialize(kind: 'session' | 'browser', value: string, maxAge: number): string {
    return serialize(this.#nameOf(kind), value, { path: '/', maxAge, httpOnly: true, sameSite: 'lax', secure: this.#secure });
  }
}
