import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { websiteHome } from '../../contract/pages.ts';
import { domainMessage, LOCALHOST, normalHost } from '../../contract/urls.ts';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import { detectFrameworks } from '../../templates/detect.ts';
import type { Framework } from '../../templates/framework.ts';
import type { Context } from '../command.ts';
import { usageError } from '../exit.ts';
import { promptChoice, promptText } from '../prompts.ts';
import { foreign, shellLine, type Terminal } from '../terminal.ts';
import { listWorkspaces, workspacePatterns } from './package-manager.ts';
import { readDetectionFiles, readText } from './project.ts';

const DOMAIN_FLAG = '--domain <domain>';
const OTHER = '';
/** Time limit of requests whose response is helpful but not necessary. */
const SERVICE_TIMEOUT_MS = 5_000;

/** Returns the directory of a project, without symbolic links. @throws CommandError usage when it does not exist */
export function requireDirectory(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  const hint = 'Give the directory of a project, as in `emailauth init <dir>`.';
  if (!stats) throw usageError(`There is no directory ${foreign(path)}.`, hint);
  if (!stats.isDirectory()) throw usageError(`${foreign(path)} is a file.`, hint);
  return realpathSync(path);
}

/** Returns a function that returns whether a path exists in the project. */
export const existsIn = (root: string) => (path: string) => existsSync(join(root, path));

/**
 * Returns the framework with the given id, else the one that is detected, else the one chosen at a prompt.
 * @throws CommandError usage for an unknown id, and where no prompt is possible
 */
export async function selectFramework(terminal: Terminal, root: string, id: string | undefined): Promise<Framework> {
  const hint = 'Give --framework <id>; `emailauth init --list` shows them all.';
  if (id !== undefined) {
    const named = frameworkOf(id);
    if (!named) throw usageError(`There is no framework "${id}".`, hint);
    return named;
  }
  const detected = detectFrameworks(readDetectionFiles(root));
  if (detected.length === 1) return detected[0];
  const names = detected.map(({ name }) => name).join(', ');
  const message = detected.length > 1 ? `Several frameworks were detected: ${names}.` : 'No framework was detected here.';
  if (!terminal.interactive) throw usageError(message, hint);
  const options = detected.length > 1 ? detected : frameworks;
  const choices = options.map(({ id, name, language }) => ({ value: id, label: name, hint: language }));
  const chosen = await promptChoice(terminal, { message: `${message} Which is it?`, flag: '--framework <id>', choices });
  return options.find((each) => each.id === chosen) as Framework;
}

/**
 * Returns the directory of the project: the given one, or the workspace that is chosen when it is the root of a monorepo that uses no
 * framework itself.
 * @throws CommandError usage with the list of workspaces, where no prompt is possible
 */
export async function selectWorkspace(terminal: Terminal, root: string): Promise<string> {
  if (workspacePatterns(root).length === 0) return root;
  const packageJson = readText(root, 'package.json');
  if (packageJson && detectFrameworks({ 'package.json': packageJson }).length > 0) return root;
  const workspaces = listWorkspaces(root);
  if (workspaces.length === 0) return root;
  const described = workspaces.map(({ path, frameworks: found }) => ({ path, names: found.map(({ name }) => name).join(', ') }));
  if (!terminal.interactive) {
    const list = described.map(({ path, names }) => `${foreign(path)} (${names})`).join(', ');
    throw usageError(
      `This is a monorepo. Its workspaces are: ${list}.`,
      `Give one of them: \`${shellLine(['emailauth', 'init', described[0].path])}\`.`,
    );
  }
  const choices = described.map(({ path, names }) => ({ value: path, label: path, hint: names }));
  const chosen = await promptChoice(terminal, { message: 'This is a monorepo. Which workspace is it for?', flag: '<dir>', choices });
  return realpathSync(join(root, chosen));
}

/** Prompts for the domain, and offers the caller's own; returns localhost where no prompt is possible. */
export async function promptDomain(context: Context): Promise<string> {
  const { terminal } = context;
  if (!terminal.interactive) return 'localhost';
  const own = await listOwnDomains(context);
  const choices = [
    ...own.filter((domain) => domain !== LOCALHOST).map((domain) => ({ value: domain, label: domain })),
    { value: LOCALHOST, label: LOCALHOST, hint: 'during development' },
    { value: OTHER, label: 'another domain' },
  ];
  const chosen = await promptChoice(terminal, { message: 'Which domain is it for?', flag: DOMAIN_FLAG, choices });
  if (chosen !== OTHER) return chosen;
  const validate = (text: string) => (normalHost(text.trim()) || text.trim() === 'localhost' ? undefined : domainMessage('shop.example'));
  return promptText(terminal, { message: 'Your domain', flag: DOMAIN_FLAG, placeholder: 'shop.example', validate });
}

/** Returns no domains without a sign-in, or when the service does not respond. */
async function listOwnDomains({ signedIn, signal }: Context): Promise<string[]> {
  try {
    const { client } = await signedIn();
    const websites = await client.listWebsites({}, { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) });
    // Only valid domains, since they are printed on a terminal.
    return websites.map(({ domain }) => domain).filter((domain) => normalHost(domain) === domain);
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}

/**
 * Returns what has to be done before the service accepts a domain, as a sentence, or null; and the address of its page in the portal, where
 * it has one.
 */
export async function findRegistration(
  { anonymous, host, signal }: Context,
  domain: string,
): Promise<{ step: string | null; page: string | null }> {
  const service = await host();
  const isLocal = domain === 'localhost';
  try {
    const website = await (await anonymous()).findWebsite({ domain }, { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) });
    return { step: null, page: isLocal ? null : `${service}${websiteHome(website.domain)}` };
  } catch (error) {
    if (signal.aborted) throw error;
    if ((error as { status?: number }).status !== 404) {
      const command = isLocal ? '`emailauth start`' : `\`emailauth register ${domain}\``;
      const step = `${service} did not respond, so it is unknown whether it serves ${domain}. If it does not: ${command}.`;
      return { step, page: null };
    }
    const step = isLocal
      ? `${service} does not serve localhost. Run your own service during development: \`emailauth start\`.`
      : `${domain} is not registered at ${service}. Register it: \`emailauth register ${domain}\`.`;
    return { step, page: null };
  }
}
