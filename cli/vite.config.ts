import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import type { CallName } from '../contract/calls.ts';
import { bundleOptions, sbom, selfContained } from '../server/bundle.ts';
import { shapeOf } from './shapes.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Copies the program that the package `open` runs on Linux and searches beside its own code. */
const xdgOpen: Plugin = {
  name: 'xdg-open',
  writeBundle({ dir }) {
    const require = createRequire(import.meta.url);
    copyFileSync(join(dirname(require.resolve('open')), 'xdg-open'), join(dir as string, 'xdg-open'));
  },
};

/** Leaves out a module of Node.js that commander loads for subcommands in files of their own; loading it takes a tenth of the start. */
const withoutChildProcess: Plugin = {
  name: 'without-child-process',
  enforce: 'pre',
  resolveId: (source, importer) => (source === 'node:child_process' && importer?.includes('/commander/') ? '\0empty' : undefined),
  load: (id) => (id === '\0empty' ? 'export {};' : undefined),
};

/** Puts the shapes of what calls return in the place of the calls of shapeOf, which need the schemas. */
const literalShapes: Plugin = {
  name: 'literal-shapes',
  enforce: 'pre',
  transform: {
    filter: { id: /\/cli\/commands\/\w+\.ts$/, code: 'shapeOf' },
    handler(code, id) {
      const literal = code
        .replace(/^import { shapeOf } .*$/m, '')
        .replace(/\bshapeOf\('(\w+)'(?:, '(\w+)')?\)/g, (_, name: CallName, more?: string) => JSON.stringify(shapeOf(name, more)));
      if (literal.includes('shapeOf')) this.error(`${id} calls shapeOf with something else than literals.`);
      return literal;
    },
  },
};

type ModuleGraph = { getModuleInfo(id: string): { importers: readonly string[] } | null };

const COMMAND_LINE = here('./command-line.ts');

/**
 * Returns whether every command loads a module: command-line.ts imports it, without an `import()` in between. Not command-line.ts itself:
 * while it runs the command, other chunks can only wait for it.
 */
function isLoadedAtStart(id: string, graph: ModuleGraph, visited = new Set<string>()): boolean {
  if (visited.has(id)) return false;
  visited.add(id);
  const importers = graph.getModuleInfo(id)?.importers ?? [];
  return importers.some((importer) => importer === COMMAND_LINE || isLoadedAtStart(importer, graph, visited));
}

const options = bundleOptions('cli');

/**
 * Bundles the command with its packages: it then installs as one small package, and starts without reading hundreds of files. Every
 * `import()` stays a chunk of its own, so that a command loads only what it runs. The service is a package of its own; see server-package.ts.
 */
export default defineConfig({
  root: here('..'),
  publicDir: false,
  plugins: [withoutChildProcess, literalShapes, selfContained([]), sbom('package.json'), xdgOpen],
  ssr: { noExternal: true },
  // Ink loads its debugger with DEV, and React its development build without NODE_ENV.
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
  build: {
    ...options,
    rolldownOptions: {
      input: { main: here('./main.ts') },
      output: {
        ...options.rolldownOptions.output,
        // One file instead of a dozen small ones, which are slower to load.
        codeSplitting: { groups: [{ debugName: 'start', name: (id, graph) => (isLoadedAtStart(id, graph) ? 'start' : null) }] },
      },
    },
  },
});
