import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isThisMachine } from '../../contract/rules.ts';
import type { Framework } from '../../templates/framework.ts';
import { findAppCommand } from '../app-sources.ts';
import { mentions, nextFreePort, portInScript, portInSource, readsPort, readsPortAfterImports, replacePort, takesPort } from '../ports.ts';
import { shellLine } from '../terminal.ts';
import { valueIn } from './env-file.ts';
import { findPackageManager } from './package-manager.ts';
import { type Project, pathsOf, portFiles, readText } from './project.ts';

/** How an app that would listen at the port of the service gets another one. */
export type PortMove = {
  to: number;
  /** The files in which the number is replaced, with the changed texts; empty when the app gets the port in another way. */
  replaced: Readonly<Record<string, (text: string) => string | null>>;
  /** PORT is written into `.env`. */
  byEnvFile: boolean;
  /** What was done or is left to the person, as a sentence with code in backticks. */
  remark: string;
};

/** Templates that load `.env` into the environment of the app. */
const LOADS_ENV = ['express', 'fastify', 'hono'];
const VITE_CONFIG = ['ts', 'mts', 'js', 'mjs'].map((end) => `vite.config.${end}`);
/** Files that may name the port of the app in production. */
const DEPLOYMENT = ['Dockerfile', 'compose.y*ml', 'docker-compose*.y*ml', 'fly.toml', 'nginx.conf', 'Caddyfile', 'Procfile'];

/** Returns the port at which an app listens during development: that of `.env` where the app takes it from there, else its own. */
export function portOf({ root, port, entries }: Project, { id, port: usual }: Framework): number {
  const file = Number(valueIn(readText(root, '.env') ?? '', 'PORT'));
  const isUsed = LOADS_ENV.includes(id) && portFiles(entries).some((path) => readsPort(readText(root, path) ?? ''));
  return isUsed && file > 0 && file < 65_536 ? file : (port ?? usual);
}

/**
 * Returns how the app of a project gets another port than the service; null when they differ.
 * @param service origin of the service
 */
export async function findPortMove(
  project: Project,
  framework: Framework,
  service: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<PortMove | null> {
  const from = portOf(project, framework);
  const { hostname, port } = new URL(service);
  if (!isThisMachine(hostname) || Number(port || 80) !== from) return null;
  const read = (path: string) => readText(project.root, path) ?? '';
  const sources = portFiles(project.entries).filter((path) => portInSource(read(path)) === from || readsPort(read(path)));
  const to = await selectPort(project.root, from, sources.map(read).join('\n'));
  const because = `since the service uses ${from}`;
  const move = { to, replaced: {}, byEnvFile: false };
  const byHand = (files: string) => ({ ...move, remark: `Change port ${from} to ${to} in ${files}, ${because}.` });
  const byCommand = async (script: string | undefined): Promise<PortMove> => {
    const command = await commandAt(project, script, to, env);
    return { ...move, remark: `Start the app at port ${to}, ${because}${command ? `: \`${command}\`` : ''}.` };
  };

  const script = scriptOf(project, framework);
  if (script && takesPort(script.line)) return byCommand(script.name);
  if (script && portInScript(script.line) !== undefined) return byHand('`package.json`');
  if (sources.length > 1) return byHand(sources.map((path) => `\`${path}\``).join(' or '));
  const [file] = sources;
  if (!file) return byCommand(script?.name);
  if (!readsPort(read(file))) {
    const replaced = replacementsIn(project.root, file, from, to);
    if (!replaced) return byHand(`\`${file}\``);
    return { ...move, replaced, remark: `\`${file}\` listens at port ${to}, ${because}.` };
  }
  const isLoaded = LOADS_ENV.includes(framework.id) && (project.kind.module === 'esm' || readsPortAfterImports(read(file)));
  if (!isLoaded) return byCommand(script?.name);
  return { ...move, byEnvFile: true, remark: `PORT in \`.env\` is ${to}, ${because}.` };
}

/** Returns the next free port that the sources do not mention; without sources, the one for which an earlier run gave the command. */
async function selectPort(root: string, from: number, sources: string): Promise<number> {
  const site = valueIn(readText(root, '.env') ?? '', 'SITE_URL');
  const { hostname, port } = URL.canParse(site) ? new URL(site) : { hostname: '', port: '' };
  if (sources === '' && hostname === 'localhost' && port && Number(port) !== from) return Number(port);
  return nextFreePort(from, (each) => !mentions(sources, each));
}

/** Returns the changes of files for another port; null when it is not certain what the number means. */
function replacementsIn(root: string, file: string, from: number, to: number): PortMove['replaced'] | null {
  const hasNumber = (path: string) => mentions(readText(root, path) ?? '', from);
  if (DEPLOYMENT.flatMap((path) => pathsOf(root, path)).some(hasNumber)) return null;
  if (replacePort(readText(root, file) ?? '', from, to) === null) return null;
  const replaceInAddresses = (text: string) =>
    text.replace(/(\/\/(?:localhost|127\.0\.0\.1):)(\d+)/g, (all, start, port) => (port === String(from) ? start + to : all));
  const proxies = VITE_CONFIG.filter(hasNumber).map((path) => [path, replaceInAddresses]);
  return { [file]: (text) => replacePort(text, from, to), ...Object.fromEntries(proxies) };
}

/** Returns the script of package.json that starts the app; Vite alone serves the pages of a front end. */
function scriptOf({ manifest }: Project, { id }: Framework): { name: string; line: string } | null {
  const { dev, start } = manifest?.scripts ?? {};
  const isFrontEnd = dev !== undefined && /^vite(?:\s|$)/.test(dev) && LOADS_ENV.includes(id);
  if (dev !== undefined && !isFrontEnd) return { name: 'dev', line: dev };
  return start === undefined ? null : { name: 'start', line: start };
}

/** Returns the command that starts the app at a port, as a person enters it, or null when it is unknown. */
async function commandAt(
  { root, manifest }: Project,
  script: string | undefined,
  port: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  if (manifest && script) {
    const manager = await findPackageManager(root);
    const run = shellLine([...(manager.run ?? ['npm', 'run']), script]).replace(/ run start$/, ' start');
    if (!takesPort(manifest.scripts[script])) return `PORT=${port} ${run}`;
    return `${run}${manager.name === 'npm' ? ' --' : ''} --port ${port}`;
  }
  const run = existsSync(join(root, 'bin/rails')) ? ['bin/rails', 'server', '--port', '{port}'] : findAppCommand(root, env)?.run;
  if (!run || typeof run === 'string') return null;
  const words = run.map((part) => (part === process.execPath ? 'node' : part.replace(`${root}/`, '')));
  const hasPort = words.some((word) => word.includes('{port}'));
  return shellLine([...(hasPort ? [] : [`PORT=${port}`]), ...words.map((word) => word.replaceAll('{port}', String(port)))]);
}
