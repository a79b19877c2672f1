import { gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => new URL(path, import.meta.url).pathname;

/**
 * What may be loaded, gzipped, in KiB: the scripts and styles of an entry's first load, and the heaviest chunk that is
 * loaded when needed (the charts).
 */
const LIMITS: Record<string, { scripts: number; styles: number; lazy: number }> = {
  signin: { scripts: 75, styles: 10, lazy: 5 },
  client: { scripts: 95, styles: 12, lazy: 130 },
};

/**
 * Vite wraps each `import()` in a loader of styles and dependencies. Each entry loads all its styles at once, so that it
 * would be nothing but weight.
 */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: { filter: { id: /vite\/preload-helper/ }, handler: () => 'export const __vitePreload = (load) => load();' },
};

/** Fails the build when an entry has become too heavy. */
const weightLimit: Plugin = {
  name: 'weight-limit',
  applyToEnvironment: ({ name }) => name in LIMITS,
  generateBundle(_, bundle) {
    const { name } = this.environment;
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    const first = new Set(chunks.filter((chunk) => chunk.isEntry));
    for (const chunk of first) for (const other of chunks) if (chunk.imports.includes(other.fileName)) first.add(other);
    const lazy = chunks.filter((chunk) => !first.has(chunk));
    const styles = Object.values(bundle).filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
    const kib = (text: string | Uint8Array) => gzipSync(text).length / 1024;
    const sum = (weights: number[]) => weights.reduce((total, weight) => total + weight, 0);
    const weights = {
      scripts: sum([...first].map(({ code }) => kib(code))),
      styles: sum(styles.map((file) => ('source' in file ? kib(file.source) : 0))),
      lazy: Math.max(0, ...lazy.map(({ code }) => kib(code))),
    };
    for (const what of ['scripts', 'styles', 'lazy'] as const) {
      const most = LIMITS[name][what];
      if (weights[what] > most) this.error(`${name}: ${what} weigh ${weights[what].toFixed(1)} KiB gzipped; ${most} are allowed.`);
    }
  },
};

const entry = (html: string, first: boolean) => ({
  consumer: 'client' as const,
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: first,
    rolldownOptions: { input: here(html) },
  },
});

export default defineConfig({
  root: here('.'),
  plugins: [plainImports, weightLimit, react(), tailwindcss()],
  resolve: {
    // Its browser build, a part of react-markdown, sets innerHTML, which the policy of Trusted Types forbids.
    alias: { 'decode-named-character-reference': here('../node_modules/decode-named-character-reference/index.js') },
  },
  build: {
    // The Content-Security-Policy allows no data: scripts or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      treeshake: {
        // Without this the pages would carry zod for the sake of constants that stand beside a schema.
        moduleSideEffects: [{ test: /\/contract\//, sideEffects: false }],
        manualPureFunctions: ['z'],
      },
    },
  },
  // Built apart: the sign-in page shares no chunk with the portal, so that one file is all it waits for.
  environments: { client: entry('./index.html', true), signin: entry('./signin.html', false) },
  builder: {
    async buildApp({ build, environments }) {
      await build(environments.client);
      await build(environments.signin);
    },
  },
});
