/**
 * The path to follow after a sign-in: only one of this origin, never another host in disguise (`//host`, `/\host`).
 * @param target a path or an absolute URL, of which the path is taken when it is of this origin
 */
export function safePath(target: string, fallback: string, origin: string = location.origin): string {
  try {
    const url = new URL(target, origin);
    // A path such as /.//host parses as one of this origin and would still be read as a host when it is followed.
    if (url.origin !== origin || /^\/[/\\]/.test(url.pathname)) return fallback;
    return `${url.pathname}${url.search}${url.hash}`;
  } catch {
    return fallback;
  }
}
