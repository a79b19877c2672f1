import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recipe } from './recipe.ts';
import { recipes } from './recipes/all.ts';

const APT = '/usr/bin/apt-get';
const root = process.getuid?.() === 0;

/** Where packages can be installed and every template counts, none may be left out. */
export const mustRunAll = root && Boolean(process.env.CI);

/** The Debian packages of a template, for a sentence. */
export const missingPackages = (id: string) =>
  recipes.find((recipe) => recipe.id === id)?.debianPackages?.join(', ') ?? 'what its recipe does not tell';

/** Installs what is missing by apt-get, where there is one and this is root; tells of what stays missing. */
export function prepareLanguages() {
  const missing = () => recipes.filter((recipe) => !recipe.available());
  if (root && existsSync(APT)) {
    install(missing().filter(({ backports }) => !backports));
    installFromBackports(missing().filter(({ backports }) => backports));
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
  const apt = (...args: string[]) => spawnSync(APT, ['-qq', ...options, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env });
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}

/** Adds this Debian's backports to the machine's sources for this once; what Debian itself has comes from there. */
function installFromBackports(recipes: readonly Recipe[]) {
  if (recipes.length === 0) return;
  const [, codename = 'stable'] = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-backports-'));
  const [list, lists] = [join(directory, 'sources.list'), join(directory, 'lists')];
  mkdirSync(join(lists, 'partial'), { recursive: true });
  chmodSync(directory, 0o755);
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(list, `deb [signed-by=${keyring}] http://deb.debian.org/debian ${codename}-backports main\n`);
  install(recipes, ['-o', `Dir::Etc::SourceList=${list}`, '-o', `Dir::State::Lists=${lists}`]);
  rmSync(directory, { recursive: true });
}
