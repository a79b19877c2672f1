import { gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => new URL(path, import.meta.url).pathname;

/** What the sign-in page may weigh, gzipped, in bytes. */
const LIMITS = { '.js': 75 * 1024, '.css': 10 * 1024 };

/**
 * Vite wraps each `import()` in a loader of styles and dependencies. Each entry loads all its styles at once, so that it
 * would be nothing but weight.
 */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: { filter: { id: /vite\/preload-helper/ }, handler: () => 'export const __vitePreload = (load) => load();' },
};

/** Fails the build when what the sign-in page loads first has become too heavy. */
const weightLimit: Plugin = {
  name: 'weight-limit',
  applyToEnvironment: ({ name }) => name === 'signin',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    const entry = chunks.find((chunk) => chunk.isEntry);
    const first = [entry, ...chunks.filter((chunk) => entry?.imports.includes(chunk.fileName))];
    const styles = Object.values(bundle).filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
    const weigh = (texts: (string | Uint8Array)[]) => texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
    const weights = {
      '.js': weigh(first.map((chunk) => chunk?.code ?? '')),
      '.css': weigh(styles.map((file) => ('source' in file ? file.source : ''))),
    };
    for (const kind of ['.js', '.css'] as const) {
      if (weights[kind] > LIMITS[kind])
        this.error(`The sign-in page's ${kind} weighs ${weights[kind]} bytes; ${LIMITS[kind]} are allowed.`);
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
