import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { installPinned } from '../../support/pinned-packages.ts';
import type { ProjectRecipe } from './project.ts';

/** npm installs what had been published by this day, whatever a project's ranges allow. The nightly run has no such day. */
const PUBLISHED_BEFORE = '2026-11-20';
export const newest = process.env.NEWEST_GENERATORS === '1';
const pinned = join(import.meta.dirname, 'packages');

/** The generators, package managers and the newest Node.js, and the environment in which a project is used. */
export type Tools = {
  /** Variables for generators, package managers, `emailauth` and apps. */
  environment(recipe: ProjectRecipe): Record<string, string>;
  /** The Node.js that runs a project. Throws an Error when there is none for this machine. */
  node(recipe: ProjectRecipe): string;
};

let opened: Promise<Tools> | undefined;
/** Installs the generators once per process: the pinned ones into the cache, or the newest ones. */
export const openTools = (): Promise<Tools> => (opened ??= prepareTools());

async function prepareTools(): Promise<Tools> {
  const directory = newest ? await installNewest() : await installPinned(pinned, 'generators');
  const programs = join(directory, 'node_modules/.bin');
  const newestNode = join(programs, 'node');
  const fonts = join(directory, 'fonts.cjs');
  if (!newest) await writeFile(fonts, GOOGLE_FONTS);
  const path = process.env.PATH ?? '';
  return {
    node: ({ newestNode: needed }) => (needed ? newestNode : process.execPath),
    environment: ({ newestNode: needed }) => ({
      PATH: (needed ? [programs, path] : [dirname(process.execPath), programs, path]).join(delimiter),
      npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? '', '.npm'),
      npm_config_store_dir: join(process.env.HOME ?? '', '.local/share/pnpm/store'),
      npm_config_prefer_offline: 'true',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      npm_config_yes: 'true',
      ...(newest ? {} : { npm_config_before: PUBLISHED_BEFORE, NEXT_FONT_GOOGLE_MOCKED_RESPONSES: fonts }),
      NEXT_TELEMETRY_DISABLED: '1',
      NUXT_TELEMETRY_DISABLED: '1',
      ASTRO_TELEMETRY_DISABLED: '1',
      CI: '1',
    }),
  };
}

async function installNewest(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-generators-'));
  const { dependencies, optionalDependencies } = JSON.parse(await readFile(join(pinned, 'package.json'), 'utf8'));
  const latest = (names: object) => Object.fromEntries(Object.keys(names).map((name) => [name, 'latest']));
  const manifest = { private: true, dependencies: latest(dependencies), optionalDependencies: latest(optionalDependencies) };
  await writeFile(join(directory, 'package.json'), JSON.stringify(manifest));
  await execa('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: directory, timeout: 300_000 });
  return directory;
}

/** For builds without Google Fonts, which the layout of create-next-app loads: the answers of fonts.googleapis.com, with a local font. */
const GOOGLE_FONTS = `const face = (family) => "@font-face { font-family: '" + family + "'; font-weight: 100 900; src: local('" + family + "'); }";
module.exports = {
  'https://fonts.googleapis.com/css2?family=Geist:wght@100..900&display=swap': face('Geist'),
  'https://fonts.googleapis.com/css2?family=Geist+Mono:wght@100..900&display=swap': face('Geist Mono'),
};
`;

/** Whether the newest Node.js can run here. */
export const hasNewestNode = () => ['x64', 'arm64'].includes(process.arch) && process.platform === 'linux';
