import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { ascii, bundleOptions, OUTSIDE, sbom, selfContained } from './bundle.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The modules that cli/server-package.ts imports, by their path in server/. */
const MODULES = [
  'operations/operator-store',
  'operations/backup/backup',
  'operations/backup/restore',
  'platform/config',
  'operations/embedded/attach',
  'platform/db/examine',
  'platform/db/migrate',
  'platform/db/secret-key',
  'main',
  'oidc/keys',
  'operations/retention',
  'signin/sql-functions',
];
/** The programs that the service starts. In the bundle they are beside the code that starts them. */
const PROGRAMS = { worker: here('./worker.ts'), supervisor: here('./operations/embedded/supervisor.ts') };

/** What packages load only with settings that the service does not use. None of it is installed with the service. */
const NEVER_LOADED = ['pg-native', 'pg-hstore', 'typescript'];

type ModuleGraph = { getModuleInfo(id: string): { importers: readonly string[] } | null };

/** Whether a module is loaded together with another one: it is that one, or is imported by it without an `import()` in between. */
function isLoadedWith(other: string, id: string, graph: ModuleGraph, visited = new Set<string>()): boolean {
  if (id === other) return true;
  if (visited.has(id)) return false;
  visited.add(id);
  return (graph.getModuleInfo(id)?.importers ?? []).some((importer) => isLoadedWith(other, importer, graph, visited));
}

const options = bundleOptions('server');

/**
 * Bundles the service with its packages: from two files it starts in less time than from 400. Code that uses `import.meta.url` is in
 * chunks, which are all directly in dist/server/.
 */
export default defineConfig({
  root: here('..'),
  publicDir: false,
  plugins: [selfContained([...Object.keys(OUTSIDE), ...NEVER_LOADED]), ascii, sbom('server/package.json')],
  ssr: { noExternal: true, external: Object.keys(OUTSIDE) },
  // React loads its development build without NODE_ENV.
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    ...options,
    rolldownOptions: {
      input: { ...Object.fromEntries(MODULES.map((name) => [name, here(`./${name}.ts`)])), ...PROGRAMS },
      external: NEVER_LOADED,
      output: {
        ...options.rolldownOptions.output,
        // Two files at the start instead of fifty small ones, which are slower to load.
        codeSplitting: {
          groups: ['serving', 'main'].map((name, priority) => ({
            debugName: name,
            name: (id, graph) => (isLoadedWith(here(`./${name}.ts`), id, graph) ? name : null),
            priority,
          })),
        },
      },
    },
  },
});
