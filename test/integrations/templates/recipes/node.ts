import { join } from 'node:path';
import { execPath as node } from 'node:process';
import { pathToFileURL } from 'node:url';
import type { Recipe } from '../recipe.ts';

const modules = join(import.meta.dirname, '../../../../node_modules');
const runTypeScript = [node, '--import', pathToFileURL(join(modules, 'tsx/dist/loader.mjs')).href, 'main.ts'];

/** What `tsc --init` of TypeScript 7 sets, with the types of this repository. */
const strictTypes = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      target: 'esnext',
      types: ['node'],
      typeRoots: [join(modules, '@types')],
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      strict: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      noUncheckedSideEffectImports: true,
      moduleDetection: 'force',
      skipLibCheck: true,
      noEmit: true,
    },
  }),
};
const checkTypes = [node, join(modules, 'typescript/bin/tsc'), '-p', '.'];

const home = `'<a href="/login">Login with Email</a>'`;
const expressApp = `const app = express();
app.use(auth);
app.get('/', (_, response) => { response.send(${home}); });
app.listen(Number(process.env.PORT), '127.0.0.1');`;
const fastifyApp = `const app = fastify();
app.register(auth);
app.get('/', (_, reply) => { reply.type('text/html').send(${home}); });
app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });`;
const honoApp = `const app = new Hono();
app.route('/', auth);
app.get('/', (c) => c.html(${home}));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });`;

/** The entry file of an app as an ES module, and as a CommonJS module. */
const asModule = (imports: Record<string, string>, app: string) =>
  [...Object.entries(imports).map(([from, names]) => `import ${names} from '${from}';`), app].join('\n');
const asCommonJs = (imports: Record<string, string>, app: string) =>
  [...Object.entries(imports).map(([from, names]) => `const ${names} = require('${from}');`), app].join('\n');

const MODULE = { 'package.json': '{ "type": "module" }' };
const COMMONJS = { 'package.json': '{ "type": "commonjs" }' };
const base = { available: () => true, command: [node, 'main.js'] };
const auth = { './auth.js': '{ auth }' };
const expressImports = { express: 'express', ...auth };
const fastifyImports = { fastify: 'fastify', ...auth };
const honoImports = { '@hono/node-server': '{ serve }', hono: '{ Hono }', ...auth };

/** Sites that Node.js runs as they are. */
export const nodeRecipes: Recipe[] = [
  { ...base, id: 'express', around: { ...MODULE, 'main.js': asModule(expressImports, expressApp) } },
  { ...base, id: 'express', variant: 'commonjs', around: { ...COMMONJS, 'main.js': asCommonJs(expressImports, expressApp) } },
  {
    ...base,
    id: 'express',
    variant: 'typescript',
    around: { ...MODULE, ...strictTypes, 'main.ts': asModule(expressImports, expressApp) },
    build: checkTypes,
    command: runTypeScript,
  },
  { ...base, id: 'fastify', packages: true, around: { 'main.js': asModule(fastifyImports, fastifyApp) } },
  {
    ...base,
    id: 'fastify',
    variant: 'commonjs',
    packages: true,
    around: { ...COMMONJS, 'main.js': asCommonJs(fastifyImports, fastifyApp) },
  },
  {
    ...base,
    id: 'fastify',
    variant: 'typescript',
    packages: true,
    around: { ...strictTypes, 'main.ts': asModule(fastifyImports, fastifyApp) },
    build: checkTypes,
    command: runTypeScript,
  },
  {
    ...base,
    id: 'hono',
    packages: true,
    around: { ...strictTypes, 'main.ts': asModule(honoImports, honoApp) },
    build: checkTypes,
    command: runTypeScript,
  },
  { ...base, id: 'hono', variant: 'javascript', packages: true, around: { 'main.js': asModule(honoImports, honoApp) } },
  {
    ...base,
    id: 'hono',
    variant: 'commonjs',
    packages: true,
    around: { ...COMMONJS, 'main.js': asCommonJs(honoImports, honoApp) },
  },
  {
    ...base,
    id: 'vite',
    // What `vite build` makes of the pages.
    around: { 'dist/index.html': '<!doctype html><title>Vite</title><a href="/login">Login with Email</a>' },
    command: [node, 'server/index.mjs'],
  },
  {
    id: 'static',
    available: () => true,
    packages: true,
    // What starts the worker is what people develop it with: Cloudflare's own runtime. Its index.html is the template's.
    around: {},
    command: [
      node,
      '../node_modules/.bin/wrangler',
      'dev',
      '--port={port}',
      '--ip=127.0.0.1',
      '--inspector-port=0',
      '--show-interactive-dev-session=false',
    ],
    // Wrangler takes the worker's variables from .env, or so from its environment.
    env: { CLOUDFLARE_INCLUDE_PROCESS_ENV: 'true', WRANGLER_SEND_METRICS: 'false', CI: 'true' },
  },
];
