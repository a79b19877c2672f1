import { join } from 'node:path';
import { languages } from '../../contract/languages.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, usageError } from '../exit.ts';
import { CONFIG_KEYS, type ConfigKey, configDirectory, originOf } from '../settings.ts';
import { table } from '../terminal.ts';

type InUse = { value: string; source: string };

const SOURCES: Readonly<Record<string, string>> = {
  flag: '--host',
  environment: 'EMAILAUTH_HOST',
  config: 'config.json',
  default: 'default',
};

/** Every setting in use and where it is from. */
export async function listConfig(context: Context): Promise<ExitCode> {
  const { terminal, settings, env } = context;
  const [host, language] = [await inUse(context, 'host'), await inUse(context, 'language')];
  const path = join(configDirectory(env), 'config.json');
  const rows = Object.entries({ host, language }).map(([key, { value, source }]) => [key, value, terminal.style('dim', SOURCES[source])]);
  const text = table([['profile', settings.profile, ''], ...rows])
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  terminal.answer({ profile: settings.profile, host, language, path }, `${text}\n\nThe file: ${path}`);
  return EXIT.ok;
}

export async function getConfig(context: Context, key: string): Promise<ExitCode> {
  const setting = await inUse(context, keyOf(key));
  context.terminal.answer({ key, ...setting }, setting.value);
  return EXIT.ok;
}

/** Keeps a setting in the profile, or forgets it, and answers what is in use from then on. */
export async function setConfig(context: Context, name: string, value: string | undefined): Promise<ExitCode> {
  const { terminal, settings } = context;
  const key = keyOf(name);
  await settings.set(key, value === undefined ? undefined : checked(key, value));
  const setting = await inUse(context, key);
  terminal.answer({ key, ...setting }, `${key} is ${setting.value}`);
  if (setting.source === 'flag' || setting.source === 'environment') {
    terminal.note(`${SOURCES[setting.source]} comes first; config.json says ${(await settings.get(key)) ?? 'nothing'}.`);
  }
  return EXIT.ok;
}

async function inUse({ settings }: Context, key: ConfigKey): Promise<InUse> {
  if (key === 'host') return settings.host();
  const value = await settings.get(key);
  return value === undefined ? { value: languages[0].code, source: 'default' } : { value, source: 'config' };
}

/** @throws CommandError usage */
function keyOf(name: string): ConfigKey {
  if (!Object.hasOwn(CONFIG_KEYS, name))
    throw usageError(`There is no setting "${name}".`, `Settings: ${Object.keys(CONFIG_KEYS).join(', ')}.`);
  return name as ConfigKey;
}

/** @throws CommandError usage */
function checked(key: ConfigKey, value: string): string {
  if (key === 'host') return originOf(value, 'The host');
  const codes = languages.map(({ code }) => code as string);
  if (!codes.includes(value)) throw usageError(`"${value}" is no language of the mails.`, `Languages: ${codes.join(', ')}.`);
  return value;
}
