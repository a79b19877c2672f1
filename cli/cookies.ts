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
        if (attributes.some((attribute) => /^\s*max-age\s*=\s*0*\s*$/i.test(attribute))) cookies.delete(name);
        else if (at > 0) cookies.set(name, pair.slice(at + 1).trim());
      }
    },
    clear: () => cookies.clear(),
  };
}
