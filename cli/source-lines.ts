import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

/** The source files of a project that belong to its sign-in, by path relative to the project, with their lines. */
export type SignInSources = ReadonlyMap<string, readonly string[]>;

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.jsx', '.tsx', '.py', '.rb', '.php', '.go', '.vue', '.svelte', '.astro'];
const SKIPPED = new Set([
  'node_modules',
  'dist',
  'build',
  'out',
  'vendor',
  'venv',
  'env',
  '__pycache__',
  'coverage',
  'target',
  'tmp',
  'public',
]);
const MAX_FILES = 5_000;
const MAX_BYTES = 256 * 1024;

/** Reads the files of a project that name the service's calls or the callback. @param callbackPath of its callback */
export function readSignInSources(root: string, callbackPath: string): SignInSources {
  const sources = new Map<string, readonly string[]>();
  let left = MAX_FILES;
  const read = (directory: string) => {
    const entries = readdirSync(join(root, directory), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
      const path = directory ? `${directory}/${entry.name}` : entry.name;
      if (entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith('.')) read(path);
      if (!entry.isFile() || !EXTENSIONS.includes(extname(entry.name)) || left-- <= 0) continue;
      if (statSync(join(root, path)).size > MAX_BYTES) continue;
      const text = readFileSync(join(root, path), 'utf8');
      const isRoute = path.includes(`${callbackPath}/`) || path.includes(`${callbackPath}.`);
      if (isRoute || text.includes(callbackPath) || /verify-token|forward_url/.test(text)) sources.set(path, text.split(/\r?\n/));
    }
  };
  read('');
  return sources;
}

/** A line that compares the state with another value. */
const COMPARES_STATE = /state.{0,200}(?:!=|==|compare|equal)|(?:!=|==|compare|equal).{0,200}state/i;

/** What a check is about: the first pattern that matches a line names it. */
const PATTERNS: Record<string, readonly RegExp[]> = {
  callback: [/auth\/callback/],
  callback_refusal: [/\.valid\b|\[['"]valid['"]\]/, /verify-token/],
  replay: [/\.valid\b|\[['"]valid['"]\]/, /verify-token/],
  other_website: [/\bdomain\b.{0,200}(?:host|SITE)|(?:host|SITE).{0,200}\bdomain\b/, /verify-token/],
  state_missing: [COMPARES_STATE],
  state_forged: [COMPARES_STATE],
  state_other_browser: [COMPARES_STATE],
  login: [/forward_url/],
  login_cookie: [/http_?only/i, /(?:cookie|session).{0,200}state/i],
  session_cookie: [/http_?only/i, /(?:set_?cookie|cookies?\.set|\.cookie\()/i],
  return_path: [/return_?to|\bnext\b.{0,200}=|redirect_?to/i, /redirect\(/i],
  logout: [/log-?_?out|sign-?_?out/i],
  clean_url: [/redirect\(/i],
  sign_in: [/verify-token/],
};

/**
 * Returns the place in the project that decides a check, as `path:line`, or null. Without a line that matches it is the one of the
 * callback, or its file.
 * @param id of the check
 */
export function placeOf(id: string, sources: SignInSources, callbackPath: string): string | null {
  const callback = (line: string) => line.includes(callbackPath);
  for (const test of [...(PATTERNS[id] ?? []).map((pattern) => (line: string) => pattern.test(line)), callback]) {
    for (const [path, lines] of sources) {
      const index = lines.findIndex((line) => test(line) && !/^\s*(?:\/\/|#|\*|\/\*|import\b|from\b)/.test(line));
      if (index >= 0) return `${path}:${index + 1}`;
    }
  }
  return [...sources.keys()].find((path) => path.includes(callbackPath)) ?? null;
}
