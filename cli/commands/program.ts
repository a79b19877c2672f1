import { join } from 'node:path';
import type { CommandSpec, Context } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { CONFIG_KEYS, type ConfigKey, configDirectory, originOf } from '../settings.ts';
import { table } from '../terminal.ts';

const PAGES = {
  dashboard: '/dashboard',
  docs: '/webservices/email-auth',
  site: '/',
};

const open: CommandSpec = {
  usage: 'open [target]',
  group: 'This program',
  summary: 'open the dashboard, the documentation or the start page of the service in the browser',
  choices: { target: Object.keys(PAGES) },
  examples: ['open', 'open docs'],
  json: '{url,opened}',
  async run(context, [target = 'dashboard']) {
    const url = `${await context.host()}${PAGES[target as keyof typeof PAGES]}`;
    const opened = await openBrowser(context, url);
    context.terminal.result({ url, opened }, url);
    return EXIT.ok;
  },
};

/**
 * Opens an address in the person's browser.
 * @returns false where there is no browser to open: in scripts, CI, over SSH, and on a system without a desktop
 */
export async function openBrowser({ terminal, env }: Context, url: string): Promise<boolean> {
  const isRemote = Boolean(env.SSH_CONNECTION || env.SSH_TTY);
  const hasDesktop = process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME);
  if (!terminal.interactive || isRemote || !hasDesktop) return false;
  const { default: openUrl } = await import('open');
  return openUrl(url).then(
    () => true,
    () => false,
  );
}

const completion: CommandSpec = {
  usage: 'completion <shell>',
  group: 'This program',
  summary: "print a shell's completion script",
  about: 'Bash: add it to ~/.bashrc. Zsh: ~/.zfunc has to be in fpath before compinit. Commands, flags, files and your domains complete.',
  choices: { shell: ['bash', 'zsh', 'fish'] },
  examples: [
    'completion bash >> ~/.bashrc',
    'completion zsh > ~/.zfunc/_emailauth',
    'completion fish > ~/.config/fish/completions/emailauth.fish',
  ],
  json: '{shell,script}',
  async run({ terminal }, [shell = '']) {
    const script = scripts[shell];
    terminal.result({ shell, script }, script.trimEnd());
    return EXIT.ok;
  },
};

// Each script passes the words of the line to `emailauth complete`, and never evaluates them.
const scripts: Readonly<Record<string, string>> = {
  // Bash 3.2, which macOS has, lacks compopt and negative indexes. It splits words at = and :, which ours contain.
  bash: `# bash completion for emailauth
_emailauth() {
  local words=() last=-1 previous='' word value about i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((last >= 0)) && [[ $word == [=:]* || $previous == *[=:] ]]; then
      words[last]+=$word
    else
      words[++last]=$word
    fi
    previous=$word
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    case $value in
      :0)
        compopt -o filenames 2>/dev/null
        word=\${words[last]}
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "\${word#--*=}")
        ;;
      :*) ;;
      *) COMPREPLY+=("$value") ;;
    esac
  done < <(emailauth complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _emailauth emailauth
`,
  zsh: `#compdef emailauth
# zsh completion for emailauth
_emailauth() {
  local -a lines values
  local line
  lines=("\${(@f)$(emailauth complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  compset -P '--*='
  if [[ $lines[-1] == ':0' ]]; then
    _files
    return
  fi
  for line in "\${(@)lines[1,-2]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\:}:\${line#*$'\\t'}")
  done
  _describe emailauth values
}
if [[ $funcstack[1] == _emailauth ]]; then
  _emailauth "$@"
else
  compdef _emailauth emailauth
fi
`,
  fish: `# fish completion for emailauth
function __emailauth_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (emailauth complete -- $words "$current" 2>/dev/null)
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    set -l directive $lines[-1]
    set -e lines[-1]
    if test "$directive" = ':0'
        set lines (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
    end
    for line in $lines
        printf '%s%s\\n' "$prefix" $line
    end
end
complete -c emailauth -f -a '(__emailauth_complete)'
`,
};

type CurrentValue = { value: string; source: string };

const KEYS = Object.keys(CONFIG_KEYS);

const SOURCES: Readonly<Record<string, string>> = {
  flag: '--host',
  environment: 'EMAILAUTH_HOST',
  config: 'config.json',
  default: 'default',
};

const configList: CommandSpec = {
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

const configGet: CommandSpec = {
  usage: 'config get <key>',
  group: 'This program',
  summary: 'one setting',
  choices: { key: KEYS },
  examples: ['config get host'],
  json: '{key,value,source}',
  async run(context, [key = '']) {
    const current = await currentValue(context, requireConfigKey(key));
    context.terminal.result({ key, ...current }, current.value);
    return EXIT.ok;
  },
};

const configSet: CommandSpec = {
  usage: 'config set <key> [value]',
  group: 'This program',
  summary: 'store a setting; without a value it is removed',
  choices: { key: KEYS },
  examples: ['config set host https://auth.example.com', 'config set language lv', 'config set host'],
  json: '{key,value,source}',
  async run(context, [name = '', value]) {
    const { terminal, settings } = context;
    const key = requireConfigKey(name);
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
function requireConfigKey(name: string): ConfigKey {
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

export const programCommands: readonly CommandSpec[] = [open, completion, configList, configGet, configSet];
