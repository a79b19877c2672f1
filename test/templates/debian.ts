import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recipe } from './recipe.ts';
import { recipes } from './recipes/all.ts';

const root = process.getuid?.() === 0;

/** Where packages can be installed and every template counts, none may be left out. */
export const mustRunAll = root && Boolean(process.env.CI);

/** The Debian packages of a template, for a sentence. */
export const missingPackages = (id: string) =>
  recipes.find((recipe) => recipe.id === id)?.debianPackages?.join(', ') ?? 'what its recipe does not tell';

/** Installs what is missing by apt-get, where there is one and this is root; tells of what stays missing. */
export function prepareLanguages() {
  const missing = () => recipes.filter((recipe) => !recipe.available());
  if (root && existsSync('/usr/bin/apt-get')) {
    install(missing().filter(({ backports }) => !backports));
    install(
      missing().filter(({ backports }) => backports),
      fromBackports(),
    );
  }
  for (const { id } of missing()) {
    console.warn(
      `\n!! The template ${id} ${mustRunAll ? 'cannot run' : 'is skipped'}: on Debian, apt-get install ${missingPackages(id)}\n`,
    );
  }
}

function install(recipes: readonly Recipe[], options: readonly string[] = []) {
  const packages = recipes.flatMap(({ debianPackages = [] }) => debianPackages);
  if (packages.length === 0) return;
  console.log(`Installing ${packages.join(' ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) => spawnSync('apt-get', ['-qq', ...options, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env });
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}

/** Names this Debian's backports to apt-get as the only source, for this once: the machine's own sources stay as they are. */
function fromBackports(): string[] {
  const [, codename = 'stable'] = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-backports-'));
  mkdirSync(join(directory, 'lists/partial'), { recursive: true });
  const source = `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${codename}-backports main\n`;
  writeFileSync(join(directory, 'sources.list'), source);
  return ['SourceList=sources.list', 'SourceParts=none']
    .map((setting) => `Dir::Etc::${setting.replace('=', `=${directory}/`)}`)
    .concat(`Dir::State::Lists=${directory}/lists`)
    .flatMap((setting) => ['-o', setting]);
}
