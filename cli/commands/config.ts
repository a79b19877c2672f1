import { join } from 'node:path';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, usageError } from '../exit.ts';
import { CONFIG_KEYS, type ConfigKey, configDirectory, originOf } from '../settings.ts';
import { table } from '../text.ts';

type CurrentValue = { value: string; source: string };

const KEYS = Object.keys(CONFIG_KEYS);

const SOURCES: Readonly<Record<string, string>> = {
  flag: '--host',
  environment: 'EMAILAUTH_HOST',
  config: 'config.json',
  default: 'default',
};

export const configList: CommandSpec = {
  usage: 'config list',
  group: 'This program',
  summary: 'the settings in use, and where each comes from',
  examples: ['config list'],
  json: '{profile,host:{value,source},language:{value,source},path}',
  async run(context) {
    const { terminal, settings, env } = context;
    const [host, language] = [await currentValue(context, 'host'), await currentValue(context, 'language')];
    const path = join(configDirectory(env), 'config.json');
    const rows = Object.entries({ host, language }).map(([key, { value, source }]) => [key, value, terminal.style('dim', SOURCES[source])]);
    const text = table([['profile', settings.profile, ''], ...rows])
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
    terminal.result({ profile: settings.profile, host, language, path }, `${text}\n\nThe file: ${path}`);
    return EXIT.ok;
  },
};

export const configGet: CommandSpec = {
  usage: 'config get <key>',
  group: 'This program',
  summary: 'one setting',
  choices: { key: KEYS },
  examples: ['config get host'],
  json: '{key,value,source}',
  async run(context, [key = '']) {
    const current = await currentValue(context, requireKey(key));
    context.terminal.result({ key, ...current }, current.value);
    return EXIT.ok;
  },
};

export const configSet: CommandSpec = {
  usage: 'config set <key> [value]',
  group: 'This program',
  summary: 'store a setting; without a value it is removed',
  choices: { key: KEYS },
  examples: ['config set host https://auth.example.com', 'config set language lv', 'config set host'],
  json: '{key,value,source}',
  async run(context, [name = '', value]) {
    const { terminal, settings } = context;
    const key = requireKey(name);
    await settings.set(key, value === undefined ? undefined : await validValue(key, value));
    const current = await currentValue(context, key);
    terminal.result({ key, ...current }, `${key} is ${current.value}`);
    if (current.source === 'flag' || current.source === 'environment') {
      terminal.note(`${SOURCES[current.source]} takes precedence; config.json has ${(await settings.get(key)) ?? 'no value'}.`);
    }
    return EXIT.ok;
  },
};

async function currentValue({ settings }: Context, key: ConfigKey): Promise<CurrentValue> {
  if (key === 'host') return settings.host();
  const value = await settings.get(key);
  if (value !== undefined) return { value, source: 'config' };
  const { languages } = await import('../../contract/languages.ts');
  return { value: languages[0].code, source: 'default' };
}

/** @throws CommandError usage */
function requireKey(name: string): ConfigKey {
  if (!KEYS.includes(name)) throw usageError(`There is no setting "${name}".`, `Settings: ${KEYS.join(', ')}.`);
  return name as ConfigKey;
}

/** Returns the value in the form that is stored. @throws CommandError usage */
async function validValue(key: ConfigKey, value: string): Promise<string> {
  if (key === 'host') return originOf(value, 'The host');
  const { languages } = await import('../../contract/languages.ts');
  const codes = languages.map(({ code }) => code as string);
  if (!codes.includes(value)) throw usageError(`There are no emails in the language "${value}".`, `Languages: ${codes.join(', ')}.`);
  return value;
}
