import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { files, type ProjectRecipe, type Run } from './project.ts';
import { astroMinimal, honoNodejs, nuxtMinimal } from './starters.ts';
import { newest } from './tools.ts';
import { expressApp, honoServer, viteExpressServer, viteProxy } from './tutorials.ts';

const npmBuild = ['npm', 'run', 'build'];
const npmStart = ['npm', 'start'];

/** Runs `create-next-app`, which creates a directory, so that the project gets this name. */
const nextApp = (...flags: string[]): ProjectRecipe => ({
  make: (directory, run) =>
    run('create-next-app', [directory, '--yes', '--skip-install', '--disable-git', '--use-npm', ...flags], directory),
  build: npmBuild,
  start: npmStart,
});

/** `npm init -y`, packages, and an app of a guide. */
const npmProject =
  (packages: readonly string[], more: Record<string, string>, settings: readonly string[] = []) =>
  async (directory: string, run: Run) => {
    await run('npm', ['init', '-y'], directory);
    if (settings.length > 0) await run('npm', ['pkg', 'set', ...settings], directory);
    await run('npm', ['install', ...packages], directory);
    await files(more)(directory);
  };

const TYPES = ['-D', 'typescript', '@types/express', '@types/node'];
const COMPILED = ['scripts.build=tsc', 'scripts.start=node dist/index.js'];
const COMMONJS_TSCONFIG = `{
  "compilerOptions": {
    "target": "es2022",
    "module": "node16",
    "rootDir": "./src",
    "outDir": "./dist",
    "esModuleInterop": true,
    "strict": true,
    "skipLibCheck": true
  }
}
`;

const typescriptExpress = (settings: readonly string[], tsconfig: (directory: string, run: Run) => Promise<void>): ProjectRecipe => ({
  async make(directory, run) {
    await npmProject(['express'], { 'src/index.ts': expressApp('import'), '.gitignore': 'node_modules\ndist\n' }, settings)(directory, run);
    await run('npm', ['install', ...TYPES], directory);
    await tsconfig(directory, run);
  },
  build: npmBuild,
  start: npmStart,
  fixedPort: ['src/index.ts'],
});

const fastify = (...flags: string[]): ProjectRecipe => ({
  make: (directory, run) => run('fastify', ['generate', '.', '--integrate', ...flags], directory),
  start: npmStart,
});

const svelte = (...types: string[]): ProjectRecipe => ({
  make: (directory, run) => run('sv', ['create', '.', '--template', 'minimal', ...types, '--no-add-ons', '--no-install'], directory),
  build: npmBuild,
  start: ['npm', 'run', 'preview', '--', '--port={port}', '--strictPort'],
  newestNode: true,
});

const vite = async (directory: string, run: Run, template: string) =>
  run('create-vite', ['.', '--overwrite', '--template', template, '--no-interactive'], directory);

/** A front end of Vite, to which the integration adds a server. */
const frontEnd = (template: string): ProjectRecipe => ({
  make: (directory, run) => vite(directory, run, template),
  build: npmBuild,
  start: ['node', 'server/index.mjs'],
});

/** A starter of GitHub: its files, or in the nightly run the generator. */
const starter = (contents: Record<string, string>, command: readonly string[]) => (directory: string, run: Run) =>
  newest ? run('npx', ['--yes', ...command], directory) : files(contents)(directory);

/** The projects by the ids of docs/framework-pages.ts. */
export const javascriptProjects = {
  'npm-express-cjs': {
    make: npmProject(['express'], { 'app.js': expressApp('require') }),
    start: ['node', 'app.js'],
    fixedPort: ['app.js'],
  },
  'npm-express-esm': {
    make: npmProject(['express'], { 'app.js': expressApp('import'), '.gitignore': 'node_modules\n' }, ['type=module']),
    start: ['node', 'app.js'],
    fixedPort: ['app.js'],
    browser: true,
  },
  'npm-express-ts': typescriptExpress(COMPILED, files({ 'tsconfig.json': COMMONJS_TSCONFIG })),
  'npm-express-ts-esm': typescriptExpress(['type=module', ...COMPILED], (directory, run) =>
    run('npx', ['tsc', '--init', '--rootDir', './src', '--outDir', './dist', '--types', 'node'], directory),
  ),
  'express-generator': { make: (directory, run) => run('express', ['--force', '.'], directory), start: npmStart },
  'yarn-workspace': {
    async make(directory, run) {
      // Yarn 1 installs no package of which an optional dependency is not in the registry, as of vite 8.4.0.
      const resolutions = { vite: '8.3.4' };
      const root = { name: 'shop', private: true, workspaces: ['packages/*'], packageManager: 'yarn@1.22.22', resolutions };
      const server = { name: 'server', version: '1.0.0', type: 'module', dependencies: { express: '^5.3.0' } };
      await files({
        'package.json': `${JSON.stringify(root, null, 2)}\n`,
        '.gitignore': 'node_modules\ndist\n',
        'packages/server/package.json': `${JSON.stringify(server, null, 2)}\n`,
        'packages/server/app.js': expressApp('import'),
      })(directory);
      await mkdir(join(directory, 'packages/web'));
      await vite(join(directory, 'packages/web'), run, 'vue');
    },
    app: 'packages/server',
    install: ['yarn', 'install'],
    start: ['node', 'app.js'],
    fixedPort: ['app.js'],
  },
  'next-app-ts': { ...nextApp('--ts', '--app', '--no-src-dir'), browser: true },
  'next-app-ts-src': nextApp('--ts', '--app', '--src-dir'),
  'next-app-js-src': nextApp('--js', '--app', '--src-dir'),
  'next-pages-ts': { ...nextApp('--ts', '--no-app', '--no-src-dir'), browser: true },
  'next-pages-js-src': nextApp('--js', '--no-app', '--src-dir'),
  'pnpm-workspace-next': pnpmWorkspace('web', { build: ['pnpm', 'build'], start: ['pnpm', 'start'] }),
  nuxt: {
    make: starter(nuxtMinimal, ['nuxi@latest', 'init', '.', '--force', '--template', 'minimal', '--packageManager', 'npm', '--no-install']),
    build: npmBuild,
    start: ['node', '--env-file=.env', '.output/server/index.mjs'],
    newestNode: true,
    browser: true,
  },
  'sveltekit-ts': { ...svelte('--types', 'ts'), browser: true },
  'sveltekit-js': svelte('--no-types'),
  astro: {
    make: starter(astroMinimal, [
      'create-astro@latest',
      '.',
      '--template',
      'minimal',
      '--no-install',
      '--no-git',
      '--yes',
      '--skip-houston',
    ]),
    build: npmBuild,
    start: ['node', '--env-file=.env', 'dist/server/entry.mjs'],
    newestNode: true,
    browser: true,
  },
  'hono-node': {
    make: starter(honoNodejs, ['create-hono@latest', '.', '--template', 'nodejs', '--pm', 'npm', '--install=false']),
    build: npmBuild,
    start: npmStart,
    fixedPort: ['src/index.ts'],
    browser: true,
  },
  'fastify-cli-esm': { ...fastify('--esm'), browser: true },
  'fastify-cli-cjs': fastify(),
  'pnpm-workspace-fastify': pnpmWorkspace('api', { start: ['pnpm', 'start'] }),
  'vite-react': { ...frontEnd('react-ts'), browser: true },
  'vite-vue': frontEnd('vue'),
  'vite-react-express': {
    async make(directory, run) {
      await vite(directory, run, 'react-ts');
      await run('npm', ['pkg', 'set', 'dependencies.express=^5.3.0', 'scripts.start=node server.js'], directory);
      await files({ 'server.js': viteExpressServer, 'vite.config.ts': viteProxy('react', '@vitejs/plugin-react') })(directory);
    },
    build: npmBuild,
    start: npmStart,
    fixedPort: ['server.js', 'vite.config.ts'],
  },
  'vite-vue-hono': {
    async make(directory, run) {
      await vite(directory, run, 'vue');
      const packages = ['dependencies.hono=^4.13.3', 'dependencies.@hono/node-server=^2.1.1'];
      await run('npm', ['pkg', 'set', ...packages, 'scripts.start=node server/index.js'], directory);
      await files({ 'server/index.js': honoServer, 'vite.config.js': viteProxy('vue', '@vitejs/plugin-vue') })(directory);
    },
    build: npmBuild,
    start: npmStart,
    fixedPort: ['server/index.js', 'vite.config.js'],
  },
} satisfies Record<string, ProjectRecipe>;

/** A repository with two apps, `apps/web` of create-next-app and `apps/api` of fastify-cli. */
function pnpmWorkspace(app: 'web' | 'api', recipe: Pick<ProjectRecipe, 'build' | 'start'>): ProjectRecipe {
  return {
    async make(directory, run) {
      const [web, api] = [join(directory, 'apps/web'), join(directory, 'apps/api')];
      await mkdir(api, { recursive: true });
      await nextApp('--ts', '--app', '--no-src-dir', '--use-pnpm').make(web, run);
      // The generator makes the app a workspace of its own, which a repository of several apps removes.
      await rm(join(web, 'pnpm-workspace.yaml'), { force: true });
      await fastify('--esm').make(api, run);
      const root = { name: 'shop', private: true, packageManager: 'pnpm@10.34.8' };
      await writeFile(join(directory, 'package.json'), `${JSON.stringify(root, null, 2)}\n`);
      await files({ 'pnpm-workspace.yaml': 'packages:\n  - apps/*\n', '.gitignore': 'node_modules\n.next\n' })(directory);
    },
    madeAs: 'pnpm-workspace',
    app: `apps/${app}`,
    install: ['pnpm', 'install', '--no-frozen-lockfile'],
    ...recipe,
  };
}
