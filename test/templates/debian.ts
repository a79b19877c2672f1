import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { recipes } from './recipes/all.ts';

/** What the templates of other languages need on a Debian, by the ids of their recipes. */
const debianPackages: readonly { ids: readonly string[]; packages: readonly string[] }[] = [
  { ids: ['flask'], packages: ['python3-flask'] },
  { ids: ['fastapi'], packages: ['python3-fastapi', 'python3-uvicorn', 'python3-httpx', 'python3-itsdangerous'] },
  { ids: ['django'], packages: ['python3-django'] },
  { ids: ['go'], packages: ['golang-go'] },
  { ids: ['php'], packages: ['php-cli'] },
  { ids: ['sinatra'], packages: ['ruby-sinatra', 'ruby-webrick'] },
];

const root = process.getuid?.() === 0;

/** Where packages can be installed and every template counts, none may be left out. */
export const mustRunAll = root && Boolean(process.env.CI);

/** The Debian packages of a template, for a sentence. */
export const missingPackages = (id: string) =>
  debianPackages
    .filter(({ ids }) => ids.includes(id))
    .flatMap(({ packages }) => packages)
    .join(', ') || 'what debian.ts does not know of';

/** Installs what is missing by apt-get, where there is one and this is root; tells of what stays missing. */
export function prepareLanguages() {
  const missing = () => recipes.filter((recipe) => !recipe.available()).map(({ id }) => id);
  const packages = debianPackages.filter(({ ids }) => ids.some((id) => missing().includes(id))).flatMap(({ packages }) => packages);
  if (packages.length > 0 && root && existsSync('/usr/bin/apt-get')) {
    console.log(`Installing ${packages.join(' ')} …`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args: string[]) => spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env });
    apt('update');
    apt('install', '-y', '--no-install-recommends', ...packages);
  }
  for (const id of missing()) {
    console.warn(
      `\n!! The template ${id} ${mustRunAll ? 'cannot run' : 'is skipped'}: on Debian, apt-get install ${missingPackages(id)}\n`,
    );
  }
}
