import { globSync } from 'tinyglobby';
import { FOREIGN } from './detection.ts';
import { readText } from './manifest.ts';

/** Directories in which each file is a route, and what a file's name may end with, by the id of the framework. */
const FILE_ROUTES: Readonly<Record<string, { directories: readonly string[]; files: readonly RegExp[] }>> = {
  nextjs: {
    directories: ['app', 'src/app', 'pages', 'src/pages'],
    files: [/\/(?:page|route)\.(?:[jt]sx?|mdx?)$/, /\.[jt]sx?$/],
  },
  sveltekit: { directories: ['src/routes'], files: [/\/\+(?:page(?:\.server)?|server)(?:@[^/]*)?\.(?:svelte|[jt]s)$/] },
  nuxt: { directories: ['app/pages', 'pages', 'server/routes'], files: [/\.(?:get|post)\.[jt]s$/, /\.(?:vue|[jt]sx?)$/] },
  astro: { directories: ['src/pages'], files: [/\.(?:astro|mdx?|html|[jt]s)$/] },
};

/**
 * Returns the first file of a project that already serves a path: a page of a framework whose files are routes, or a route in one of
 * the entry files. Null when none is visible.
 * @param project.written the files that the integration writes, which do not count
 */
export function findRoute(
  path: string,
  { root, framework, entries, written }: { root: string; framework: string; entries: readonly string[]; written: ReadonlySet<string> },
): string | null {
  const routes = FILE_ROUTES[framework];
  if (routes) {
    const patterns = routes.directories.map((directory) => `${directory}/**/*`);
    const files = globSync(patterns, { cwd: root, ignore: FOREIGN, expandDirectories: false }).sort();
    return files.find((file) => !written.has(file) && routeOf(file, routes) === path.toLowerCase()) ?? null;
  }
  const serves = (code: string) => [...code.matchAll(ROUTE)].some(([, found]) => isSamePath(found, path.slice(1)));
  return entries.find((file) => !written.has(file) && serves(withoutComments(readText(root, file) ?? ''))) ?? null;
}

const isSamePath = (found: string, path: string) => found.toLowerCase().replace(/\/$/, '') === path.toLowerCase();

// A call or a decorator whose first or second argument is the path: `app.get('/login', …)`, `@app.route("/login")`, `path('login/', …)`,
// `http.HandleFunc("GET /login", …)`, `get '/login' do`.
const ROUTE =
  /\b(?:get|all|route|any|match|path|re_path|page|handle|handleFunc|api_route)\b\s*(?:\(\s*)?r?["'`](?:GET )?\/?([\w/-]*)["'`]/gi;

const withoutComments = (code: string) => code.replace(/^[ \t]*(?:\/\/|#|\/?\*).*$/gm, '');

/** Whether files of a framework are routes. */
export const hasFileRoutes = (framework: string): boolean => FILE_ROUTES[framework] !== undefined;

/** Whether a file of such a framework serves a path. */
export function servesPath(framework: string, file: string, path: string): boolean {
  const routes = FILE_ROUTES[framework];
  return routes !== undefined && routeOf(file, routes) === path.toLowerCase();
}

/** Returns the path that a file serves, in lower case; null for a file that serves none. Groups such as `(shop)` are not part of it. */
function routeOf(file: string, { directories, files }: { directories: readonly string[]; files: readonly RegExp[] }): string | null {
  const directory = directories.find((each) => file.startsWith(`${each}/`)) ?? '';
  const isAppRouter = /^(?:src\/)?app$/.test(directory);
  const ending = (isAppRouter ? files.slice(0, 1) : files).find((each) => each.test(file));
  if (!ending) return null;
  const route = file
    .slice(directory.length)
    .replace(ending, '')
    .replace(/\/index$/, '');
  return route.replace(/\/\([^/)]*\)/g, '').toLowerCase() || '/';
}
