import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apt, canInstall } from '../../support/apt.ts';
import type { Recipe } from './recipe.ts';
import { recipes } from './recipes/all.ts';

/** Returns the Debian packages of a template, for messages. */
export const missingPackages = (id: string) =>
  recipes.find((recipe) => recipe.id === id)?.debianPackages?.join(', ') ?? 'packages that its recipe does not name';

/** Installs missing languages by apt-get when run as root, and warns of those that stay missing, whose tests are skipped. */
export function prepareLanguages(): void {
  const missing = () => recipes.filter((recipe) => !recipe.available());
  if (missing().length > 0 && canInstall && apt('update', '--error-on=any')) {
    // One at a time, since a package that this Debian lacks must not prevent the others.
    for (const recipe of missing().filter(({ backports }) => !backports)) install(recipe);
    installFromBackports(missing().filter(({ backports }) => backports));
  }
  for (const { id } of missing()) console.warn(`\n!! The template ${id} is skipped: on Debian, apt-get install ${missingPackages(id)}\n`);
}

function install({ debianPackages = [] }: Recipe, options: readonly string[] = []) {
  console.log(`Installing ${debianPackages.join(' ')} …`);
  apt(...options, 'install', '-y', '--no-install-recommends', ...debianPackages);
}

/** Installs packages from the backports of this Debian, without adding them to the sources of the machine. */
function installFromBackports(recipes: readonly Recipe[]) {
  if (recipes.length === 0) return;
  const [, codename = 'stable'] = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-backports-'));
  const [list, lists] = [join(directory, 'sources.list'), join(directory, 'lists')];
  mkdirSync(join(lists, 'partial'), { recursive: true });
  chmodSync(directory, 0o755);
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(list, `deb [signed-by=${keyring}] http://deb.debian.org/debian ${codename}-backports main\n`);
  const options = ['-o', `Dir::Etc::SourceList=${list}`, '-o', `Dir::State::Lists=${lists}`];
  if (apt(...options, 'update', '--error-on=any')) for (const recipe of recipes) install(recipe, options);
  rmSync(directory, { recursive: true });
}
