import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Context } from './command.ts';
import { CommandError, EXIT, throwCancelled } from './exit.ts';
import { installDirectory, modulesIn, SERVER_PACKAGE, serverIntegrity, version } from './installation.ts';
import { isRunning, runProgram } from './process-group.ts';
import { requireConfirmation } from './prompts.ts';

/** Where npm gets the package instead of its name in the registry: an absolute path, a URL or a name with a version. */
const VARIABLE = 'EMAILAUTH_SERVER_PACKAGE';
const PROGRESS_INTERVAL_MS = 1_000;

/**
 * Installs the service with npm, after a confirmation, and returns the directory with its modules. It is the package of this release,
 * byte for byte, wherever npm gets it: anyone could have taken its name. npm writes to a temporary directory that
 * is renamed when it is complete, so an interrupted installation is never used, and two processes can install at the same time.
 * @throws CommandError server_missing where no prompt is possible; install_failed; cancelled
 */
export async function installServer(context: Context): Promise<string> {
  const { env, terminal, signal } = context;
  const target = installDirectory(env);
  const wanted = env[VARIABLE] || `${SERVER_PACKAGE}@${version()}`;
  const integrity = serverIntegrity();
  if (!integrity) throw unreleased();
  if (!terminal.yes && !terminal.interactive) {
    const message = `The service is not installed: it is the package ${SERVER_PACKAGE}.`;
    throw new CommandError(
      EXIT.usage,
      'server_missing',
      message,
      `Run the same command with --yes, such as \`emailauth start --yes\`, to install it in ${target} (about 100 MB).`,
    );
  }
  await requireConfirmation(terminal, `The service is a package of its own, about 100 MB. Install ${wanted} in ${target}?`);

  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await removeLeftovers(target);
  terminal.note(`Installing ${SERVER_PACKAGE} ${version()} in ${target} …`);
  const directory = await mkdtemp(`${target}.${process.pid}.`);
  try {
    const file = await download(directory, wanted, { integrity, context });
    await runNpm(directory, ['install', file], context);
    await rm(file);
    if (!modulesIn(directory)) throw failed(`${wanted} is not the package ${SERVER_PACKAGE}.`, NEEDED);
    await moveTo(target, directory);
  } catch (error) {
    throwCancelled(error, signal);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const modules = modulesIn(target);
  if (!modules) throw failed(`${target} is incomplete.`, 'Delete it and try again.');
  terminal.note(`Installed ${SERVER_PACKAGE} ${version()}.`);
  return modules;
}

/** Renames a complete installation to `target`, unless another process was first; an incomplete one there is replaced. */
async function moveTo(target: string, directory: string): Promise<void> {
  // A rename replaces no directory with files, so an installation that another process has completed meanwhile stays.
  if ((await isMoved(directory, target)) || modulesIn(target)) return;
  // Renamed first: removing takes long, and meanwhile another process could install there.
  const aside = join(directory, 'replaced');
  await rename(target, aside).catch(ignore('ENOENT'));
  await rm(aside, { recursive: true, force: true });
  await isMoved(directory, target);
}

/** Renames a directory unless there is one with files already. @returns whether it did */
const isMoved = (from: string, to: string) =>
  rename(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      // On Windows, a directory that exists is reported as EPERM.
      ignore('ENOTEMPTY', 'EEXIST', 'EPERM')(error);
      return false;
    },
  );

/** Removes the temporary directories of processes that ended before they could. */
async function removeLeftovers(target: string): Promise<void> {
  for (const name of await readdir(dirname(target))) {
    const [, pid] = /^\.(\d+)\.\w+$/.exec(name.slice(basename(target).length)) ?? [];
    if (!name.startsWith(basename(target)) || !pid || isRunning(Number(pid))) continue;
    await rm(join(dirname(target), name), { recursive: true, force: true });
  }
}

/** Returns the path of the downloaded package. @throws CommandError install_failed for any other file than that of this release */
async function download(directory: string, wanted: string, { integrity, context }: { integrity: string; context: Context }) {
  await runNpm(directory, ['pack', wanted], context);
  const name = (await readdir(directory)).find((each) => each.endsWith('.tgz'));
  if (!name) throw failed(`${wanted} is not a package.`, NEEDED);
  const file = join(directory, name);
  const found = createHash('sha512')
    .update(await readFile(file))
    .digest('base64');
  if (`sha512-${found}` !== integrity) {
    throw failed(`${wanted} is not the package of this release, and was not installed: its content has another hash.`, NEEDED);
  }
  return file;
}

/** Runs npm in a directory of its own and shows how far it is. @throws CommandError install_failed */
async function runNpm(directory: string, command: string[], { env, terminal, signal }: Context): Promise<void> {
  // npm finds this file first, and does not search for a project in the directories above. With --prefix it would not read its global
  // configuration, which can name a proxy, a registry or a certificate authority.
  await writeFile(join(directory, 'package.json'), '{"private":true}\n');
  const started = performance.now();
  let fetched = 0;
  const show = () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    terminal.progress(`Installing ${SERVER_PACKAGE} ${version()}: ${fetched} packages fetched, ${seconds} s`);
  };
  const onOutput = (text: string) => {
    fetched += text.match(/^npm http (?:fetch|cache) .*\.tgz/gm)?.length ?? 0;
  };
  const timer = setInterval(show, PROGRESS_INTERVAL_MS);
  const endProgress = () => {
    clearInterval(timer);
    terminal.progress('');
  };
  const options = { cwd: directory, env, signal, onOutput };
  const { ok, isMissing, output } = await runProgram(['npm', ...command, ...NPM_FLAGS], options).finally(endProgress);
  if (isMissing) throw failed('npm is not installed, which installs the service.', 'Install npm (it comes with Node.js), and try again.');
  if (!ok) throw npmFailed(output, command.at(-1));
}

/** Settings of a person or of a surrounding `npm run` that would install elsewhere or leave out parts are overridden. No package needs its install script. */
const NPM_FLAGS = [
  ...['--global=false', '--location=project', '--workspaces=false', '--dry-run=false', '--ignore-scripts'],
  ...['--omit=dev', '--include=prod', '--include=optional', '--include=peer', '--no-audit', '--no-fund', '--loglevel=http'],
  // Fails soon without a network.
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=1000'],
];

function npmFailed(output: string, wanted: string | undefined): CommandError {
  const errors = output.split('\n').filter((line) => /^npm err/i.test(line) && !/A complete log of this run|-debug-\d+\.log/.test(line));
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|EHOSTUNREACH/.test(errors.join('\n'))) {
    return failed(
      'The npm registry cannot be reached, and the service is not installed.',
      `Connect to the network, or set npm's proxy or registry, and try again. Or set ${VARIABLE} to a file of the package.`,
    );
  }
  if (errors.some((line) => /\bE404\b/.test(line))) {
    return failed(`The npm registry does not have ${wanted}.`, `Set ${VARIABLE} to a file of the package, and try again.`);
  }
  const text = errors
    .map((line) => line.replace(/^npm err\S* ?/i, ''))
    // npm repeats the status on lines of its own.
    .filter((line) => !/^\d*$/.test(line.trim()))
    .slice(0, 4)
    .join('\n');
  const hint = /SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(text)
    ? 'If your network has a certificate authority of its own, run `npm config set cafile <file>` with its certificates, and try again.'
    : 'Correct this, and try again.';
  return failed(`npm could not install ${SERVER_PACKAGE}:\n${text}`, hint);
}

const NEEDED = `Set ${VARIABLE} to the file of the package ${SERVER_PACKAGE} that was released with this program, or unset it.`;

const unreleased = () =>
  failed(
    'This copy of emailauth was not made for a release, so it names no package with the service.',
    'In the repository, `npm start` runs the service, and `npm run packages` makes both packages.',
  );

const failed = (message: string, hint: string, cause?: unknown) => new CommandError(EXIT.failure, 'install_failed', message, hint, cause);

function ignore(...codes: string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}
