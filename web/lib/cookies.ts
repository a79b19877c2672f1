import { HINT_COOKIE_SECONDS } from '../../contract/limits.ts';

/** A cookie that scripts may read, decoded; null when it is not there. */
export function readCookie(name: string): string | null {
  for (const pair of document.cookie.split('; ')) {
    const cut = pair.indexOf('=');
    if (cut < 0 || pair.slice(0, cut) !== name) continue;
    try {
      return decodeURIComponent(pair.slice(cut + 1));
    } catch {
      return null;
    }
  }
  return null;
}

/** Sets a hint cookie for 3650 days, or deletes it when `value` is null. */
export function writeCookie(name: string, value: string | null) {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const life = value === null ? 0 : HINT_COOKIE_SECONDS;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in browsers that are still in use
  document.cookie = `${name}=${encodeURIComponent(value ?? '')}; Path=/; Max-Age=${life}; SameSite=Lax${secure}`;
}
