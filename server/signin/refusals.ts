import { Fault } from '../../contract/errors.ts';
import { type LanguageCode, languageOf } from '../../contract/languages.ts';
import { normalEmail } from '../../contract/rules.ts';
import type { Cookies } from '../http/cookies.ts';

/**
 * A request for an email that the limit of its mailbox refused. An emailed link that is opened in the same browser can prove that
 * the mailbox is the person's; then the limit does not apply to the browser any more.
 */
export type Refusal = { email: string; language: LanguageCode; forward_url?: string; interaction?: string };

/** Makes a request for an email. Its browser remembers for an hour that the limit of the mailbox refused it. */
export async function rememberRefusal<Sent>(cookies: Cookies, { email, language, ...destination }: Refusal, request: () => Promise<Sent>) {
  try {
    const sent = await request();
    forgetRefusal(cookies);
    return sent;
  } catch (error) {
    if (error instanceof Fault && error.code === 'rate_limited' && error.field === 'email') {
      const { forward_url, interaction } = destination;
      cookies.set('refusal', Buffer.from(JSON.stringify({ email, language, forward_url, interaction })).toString('base64url'));
    }
    throw error;
  }
}

/** Returns the refusal that a browser remembers, or null. Its content is not trusted: it only fills in a page. */
export function refusalOf(cookies: Pick<Cookies, 'get'>): Refusal | null {
  try {
    const { email, language, forward_url, interaction } = JSON.parse(
      Buffer.from(cookies.get('refusal') ?? '', 'base64url').toString() || 'null',
    );
    if (typeof email !== 'string' || normalEmail(email) !== email) return null;
    const texts = { forward_url, interaction: /^[\w-]{21,64}$/.test(interaction) ? interaction : undefined };
    const destination = Object.entries(texts).filter(([, value]) => typeof value === 'string');
    return { email, language: languageOf(language), ...Object.fromEntries(destination) };
  } catch {
    return null;
  }
}

/** Makes a browser forget its refusal. */
export function forgetRefusal(cookies: Cookies): void {
  if (cookies.get('refusal') !== undefined) cookies.set('refusal', null);
}
