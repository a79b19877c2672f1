/** The cookies of one service, in memory alone. */
export type CookieJar = {
  /** What a request's Cookie header says; none: undefined. */
  header(): string | undefined;
  /** Takes what an answer sets and deletes (RFC 6265 §5.2: a Max-Age of 0 deletes). */
  keep(answer: Headers): void;
  clear(): void;
};

/** A jar for calls to a single origin: paths and domains of cookies are not looked at. */
export function createCookieJar(): CookieJar {
  const cookies = new Map<string, string>();
  return {
    header: () => (cookies.size > 0 ? [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') : undefined),
    keep(answer) {
      for (const line of answer.getSetCookie()) {
        const [pair, ...attributes] = line.split(';');
        const at = pair.indexOf('=');
        const name = pair.slice(0, at).trim();
        if (attributes.some(isExpiry)) cookies.delete(name);
        else if (at > 0) cookies.set(name, pair.slice(at + 1).trim());
      }
    },
    clear: () => cookies.clear(),
  };
}

/** Whether an attribute of Set-Cookie is `Max-Age=0`. */
function isExpiry(attribute: string): boolean {
  const [name, seconds] = attribute.split('=', 2).map((part) => part.trim());
  return name.toLowerCase() === 'max-age' && seconds !== undefined && /^0*$/.test(seconds);
}
