import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Framework } from '../../templates/framework.ts';
import { readText } from './manifest.ts';
import { type CommandLine, findPython, type PackageManager } from './package-manager.ts';
import type { Project } from './project.ts';
import { type Ended, type RunOptions, runProgram } from './run.ts';

/** A command that fails when a project does not work. */
export type Check = {
  /** For people: `npm run build`. */
  label: string;
  command: CommandLine;
  /** The app works once it listens on a port; it is then stopped. It does not open the port, which another program may use. */
  untilItListens?: true;
  env?: Readonly<Record<string, string>>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Time limit of a build. */
const BUILD_MS = 10 * 60_000;
/** Time limit for an app that neither listens nor exits: it waits for something else, such as a database. */
const LISTEN_MS = 30_000;

/**
 * Returns the commands that show whether a project works: its own script `build`, else its script that starts it, else what its
 * language has. Empty when nothing can be checked.
 * @param written the files that the integration writes or changes
 */
export function checksFor(
  project: Project,
  framework: Framework,
  manager: PackageManager | null,
  written: readonly string[],
  env: Environment,
): Check[] {
  const language = framework.language === 'JavaScript' || framework.language === 'TypeScript' ? 'node' : framework.language;
  switch (language) {
    case 'node':
      return checkNode(project, manager);
    case 'Python':
      return checkPython(project, framework, written, env);
    case 'Go':
      return [check(['go', 'build', '-o', devNull, './...'])];
    case 'PHP':
      return written.filter((path) => path.endsWith('.php') && !path.endsWith('.blade.php')).map((path) => check(['php', '-l', path]));
    case 'Ruby':
      return written.filter((path) => /\.r[bu]$/.test(path)).map((path) => check(['ruby', '-c', path]));
    default:
      return [];
  }
}

const check = (command: CommandLine, rest: Partial<Check> = {}): Check => ({ label: command.join(' '), command, ...rest });

function checkNode({ root, manifest, entries }: Project, manager: PackageManager | null): Check[] {
  const scripts = manifest?.scripts ?? {};
  const run = (script: string, rest: Partial<Check> = {}): Check[] =>
    manager?.run ? [check([...manager.run, script] as unknown as CommandLine, rest)] : [];
  if (scripts.build) return run('build');
  const start = ['start', 'dev', 'serve'].find((name) => scripts[name]);
  if (start) return run(start, { untilItListens: true });
  const [entry] = entries;
  if (entry && /\.[mc]?js$/.test(entry)) return [check([process.execPath, entry], { label: `node ${entry}`, untilItListens: true })];
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return existsSync(compiler) ? [check([process.execPath, compiler, '--noEmit'], { label: 'tsc --noEmit' })] : [];
}

function checkPython({ root, entries }: Project, { id }: Framework, written: readonly string[], env: Environment): Check[] {
  const python = findPython(root, env).path;
  // Compiled files would be left behind.
  const common = { PYTHONDONTWRITEBYTECODE: '1' };
  if (id === 'django') return [check([python, 'manage.py', 'check'], { env: common })];
  const creates = id === 'flask' ? /\bFlask\s*\(/ : /\bFastAPI\s*\(/;
  const candidates = [...written, ...entries].filter((path) => path.endsWith('.py'));
  const entry = candidates.find((path) => creates.test(readText(root, path) ?? ''));
  const [, source, module] = /^(src\/)?((?:\w+\/)*\w+)\.py$/.exec(entry ?? '') ?? [];
  if (!module) return [];
  const name = module.replace(/\/__init__$/, '').replaceAll('/', '.');
  // Flask loads the app with its own command, since a factory is not called by an import.
  const command: CommandLine = id === 'flask' ? [python, '-m', 'flask', '--app', name, 'routes'] : [python, '-c', `import ${name}`];
  return [check(command, { env: source ? { ...common, PYTHONPATH: join(root, 'src') } : common })];
}

/** Writes to the file in EMAILAUTH_LISTENS instead of opening a port. A pipe, such as the one of tsx, is opened. */
const REPORT_LISTENING = `import net from 'node:net';
import { writeFileSync } from 'node:fs';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  const [first] = args;
  const isPipe = (typeof first === 'string' && !/^\\d+$/.test(first)) || (first && typeof first === 'object' && first.path);
  if (isPipe || !process.env.EMAILAUTH_LISTENS) return listen.apply(this, args);
  writeFileSync(process.env.EMAILAUTH_LISTENS, '');
  return this;
};`;

/**
 * Runs a check in a project.
 * @param loadEnv whether the app needs the variables of `.env` in its environment
 */
export async function runCheck(
  { command, untilItListens, env: added }: Check,
  { root, loadEnv, env, ...options }: Pick<RunOptions, 'env' | 'signal' | 'onOutput'> & { root: string; loadEnv: boolean },
): Promise<Ended> {
  const own = loadEnv ? parseEnv(readText(root, '.env')?.replace(/^\uFEFF/, '') ?? '') : {};
  const base = { ...env, ...own, ...added };
  if (!untilItListens) return runProgram(command, { ...options, cwd: root, env: base, timeoutMs: BUILD_MS });
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-check-'));
  const marker = join(directory, 'listens');
  const preload = `--import=data:text/javascript,${encodeURIComponent(REPORT_LISTENING)}`;
  const listens = { EMAILAUTH_LISTENS: marker, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} ${preload}`.trim() };
  try {
    const until = () => existsSync(marker);
    const ended = await runProgram(command, { ...options, cwd: root, env: { ...base, ...listens }, timeoutMs: LISTEN_MS, until });
    // An app that is still running has not failed.
    return ended.timedOut && !options.signal.aborted ? { ...ended, ok: true } : ended;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
