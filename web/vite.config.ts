import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, gzip } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { parse } from 'postcss';
import { defineConfig, type Plugin } from 'vite';
import { calls } from '../contract/calls.ts';
import { docs } from './build-docs.ts';
import { builtPages } from './build-pages.ts';

const here = (path: string) => new URL(path, import.meta.url).pathname;

/**
 * The maximum sizes, compressed with brotli, in KiB: scripts and styles of an entry's first load, and the largest chunk that is loaded
 * later (the charts, in the portal).
 */
const MAX_SIZES: Record<string, { scripts: number; styles: number; lazy: number }> = {
  signin: { scripts: 29.9, styles: 10, lazy: 0 },
  client: { scripts: 82.9, styles: 10.9, lazy: 115 },
  static: { scripts: 17.8, styles: 8, lazy: 30 },
};

/**
 * Vite wraps each `import()` in a loader of styles and dependencies. This one has no styles, since each entry has one style sheet, and
 * starts to load all chunks that the imported one needs at once: the browser would learn of them when it has loaded that one.
 */
const parallelImports: Plugin = {
  name: 'parallel-imports',
  enforce: 'pre',
  load: {
    filter: { id: /vite\/preload-helper/ },
    handler: () => `
const seen = new Set();
export const __vitePreload = (load, files = []) => {
  for (const file of files) {
    if (seen.has(file) || !file.endsWith('.js')) continue;
    seen.add(file);
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href: '/' + file }));
  }
  return load();
};`,
  },
};

/** What a browser needs of the table of calls: without the schemas, which need zod. */
const methodsAndPaths: Plugin = {
  name: 'methods-and-paths',
  load: {
    filter: { id: /\/contract\/calls\.ts$/ },
    handler: () => {
      const slim = Object.entries(calls).map(([name, { method, path }]) => [name, { method, path }]);
      return `export const calls = ${JSON.stringify(Object.fromEntries(slim))};`;
    },
  },
};

const replacements: Record<string, string> = {
  react: 'preact/compat',
  'react/jsx-runtime': 'preact/jsx-runtime',
  'react-dom': 'preact/compat',
  'react-dom/client': 'preact/compat/client',
  'react-dom/server': 'preact-render-to-string',
};

/** Uses Preact for the pages that the service renders, which are written for React as the portal is (docs/decisions/0021-preact-for-sign-in.md). */
const preact: Plugin = {
  name: 'preact',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name !== 'client',
  resolveId: {
    filter: { id: /^react(?:-dom)?(?:$|\/)/ },
    handler(id, importer) {
      const replacement = replacements[id];
      if (!replacement) this.error(`${id} has no replacement in web/vite.config.ts.`);
      return this.resolve(replacement, importer, { skipSelf: true });
    },
  },
};

/**
 * Removes the cascade layers from the styles of the sign-in pages: a browser that does not know `@layer` ignores everything in it. The
 * layers stand in their order in the file, and the base layer has no rule that a utility has to overrule by its layer alone.
 */
const flatStyles: Plugin = {
  name: 'flat-styles',
  enforce: 'post',
  applyToEnvironment: ({ name }) => name === 'signin',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'asset' && file.fileName.endsWith('.css')) file.source = flatten(String(file.source));
    }
  },
};

function flatten(css: string): string {
  const styles = parse(css);
  // Tailwind sets the defaults of its variables only where it knows that `@property` is missing.
  styles.walkAtRules('supports', (rule) => void (rule.params.includes('margin-trim') && rule.replaceWith(rule.nodes ?? [])));
  styles.walkAtRules('layer', (rule) => void rule.replaceWith(rule.nodes ?? []));
  return styles.toString();
}

/** Puts the styles of the static pages into their HTML: one response paints a page, also on a slow network. */
const inlineStyles: Plugin = {
  name: 'inline-styles',
  enforce: 'post',
  applyToEnvironment: ({ name }) => name === 'static',
  generateBundle(_, bundle) {
    const html = bundle['static.html'];
    const styles = Object.values(bundle).find((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
    if (html?.type !== 'asset' || styles?.type !== 'asset') return this.error('The static pages have no HTML, or no styles.');
    html.source = String(html.source).replace(/<link rel="stylesheet"[^<>]*>/, () => `<style>${String(styles.source).trim()}</style>`);
    delete bundle[styles.fileName];
  },
};

/** Fails the build when an entry exceeds its maximum sizes. */
const sizeLimit: Plugin = {
  name: 'size-limit',
  applyToEnvironment: ({ name }) => name in MAX_SIZES,
  generateBundle(_, bundle) {
    const { name } = this.environment;
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    const first = new Set(chunks.filter((chunk) => chunk.isEntry));
    for (const chunk of first) for (const other of chunks) if (chunk.imports.includes(other.fileName)) first.add(other);
    const lazy = chunks.filter((chunk) => !first.has(chunk));
    const styles = Object.values(bundle).filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
    const kib = (text: string | Uint8Array) => brotliCompressSync(text).length / 1024;
    const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
    const sizes = {
      scripts: sum([...first].map(({ code }) => kib(code))),
      styles: sum(styles.map((file) => ('source' in file ? kib(file.source) : 0))),
      lazy: Math.max(0, ...lazy.map(({ code }) => kib(code))),
    };
    for (const what of ['scripts', 'styles', 'lazy'] as const) {
      const max = MAX_SIZES[name][what];
      if (sizes[what] > max) this.error(`${name}: ${what} have ${sizes[what].toFixed(1)} KiB in brotli; the maximum is ${max}.`);
    }
  },
};

const entry = (html: string, { first = false, pure = [] as string[], target = 'baseline-widely-available' as string | string[] } = {}) => ({
  consumer: 'client' as const,
  build: {
    target,
    outDir: here('../dist/web'),
    emptyOutDir: first,
    // For test/nightly/audits/loading.test.ts.
    manifest: first && 'chunks.json',
    // One chunk for the first load of an entry: it compresses better than the chunks shared with later ones.
    // So does one for the small components that several pages share. Those with large dependencies are in chunks of their own.
    rolldownOptions: {
      input: here(html),
      treeshake: { manualPureFunctions: pure },
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial' as const] },
            { name: 'shared', test: /\/web\/ui\/(?!dialog|integration)/, minShareCount: 2 },
          ],
        },
      },
    },
  },
});

/** Browsers of 2020, which are still in use on devices without updates: visitors of a website do not choose their browser for us. */
const OLD_BROWSERS = ['chrome80', 'edge80', 'firefox78', 'safari14'];

/** A renderer for the service (server/pages/): CommonJS, so that it is loaded when it is first needed. */
const renderer = (name: string, { first = false } = {}) => ({
  consumer: 'server' as const,
  resolve: { noExternal: true as const },
  build: {
    ssr: true,
    outDir: here('../dist/web/renderer'),
    emptyOutDir: first,
    target: 'node20',
    rolldownOptions: {
      input: here(`./${name}-server.tsx`),
      output: { format: 'cjs' as const, entryFileNames: `${name}.cjs`, codeSplitting: false },
    },
  },
});

// Without parameters: quality 11, the best.
const toBrotli = promisify<Uint8Array, Buffer>(brotliCompress);

const toGzip = promisify<Uint8Array, { level: number }, Buffer>(gzip);

/** Writes a compressed version of each file, FILE.br and FILE.gz, unless it would not be smaller. The service sends these. */
async function compressFiles(directory: string): Promise<void> {
  const compress = async (name: string) => {
    const path = join(directory, name);
    const content = readFileSync(path);
    const versions = { br: await toBrotli(content), gz: await toGzip(content, { level: 9 }) };
    for (const [extension, version] of Object.entries(versions)) {
      if (version.length < content.length) writeFileSync(`${path}.${extension}`, version);
    }
  };
  await Promise.all(
    readdirSync(directory)
      .filter((name) => /\.(?:js|css|svg|json)$/.test(name))
      .map(compress),
  );
}

export default defineConfig({
  root: here('.'),
  plugins: [parallelImports, methodsAndPaths, docs, builtPages, preact, react(), tailwindcss(), flatStyles, sizeLimit, inlineStyles],
  build: {
    // The Content-Security-Policy allows no data: scripts or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Without this the bundles would contain zod because of constants that are defined beside a schema.
      treeshake: { moduleSideEffects: [{ test: /\/contract\//, sideEffects: false }] },
    },
  },
  // Built separately: the sign-in and the static pages share no chunk with the portal, so that they load only what they need. Its scripts contain no zod,
  // and minified code of Preact whose functions may be called `z`.
  environments: {
    client: entry('./index.html', { first: true, pure: ['z'] }),
    signin: entry('./signin.html', { target: OLD_BROWSERS }),
    signinServer: renderer('signin', { first: true }),
    static: entry('./static.html'),
    staticServer: renderer('static'),
  },
  builder: {
    async buildApp({ build, environments }) {
      await build(environments.client);
      await build(environments.signin);
      await build(environments.signinServer);
      await build(environments.static);
      await build(environments.staticServer);
      await compressFiles(here('../dist/web/assets'));
    },
  },
});
