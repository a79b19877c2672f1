import type { CommandRow } from '../command-row.ts';

/** Figures, and the program itself. */
export const programCommands: readonly CommandRow[] = [
  {
    usage: 'open [target]',
    group: 'This program',
    summary: 'open the dashboard, the documentation or the site in the browser',
    choices: { target: ['dashboard', 'docs', 'site'] },
    examples: ['open', 'open docs'],
    json: '{url,opened}',
    run: async (context, [target]) => (await import('../commands/open.ts')).open(context, target),
  },
  {
    usage: 'stats',
    needs: 'service',
    group: 'Figures',
    summary: 'the sign-ins of 30 days, on a screen that you can walk through',
    about:
      'For the operator: asks for the admin password, or takes it from EMAILAUTH_ADMIN_PASSWORD. On the screen ←/→ choose a day, ↑/↓ scroll, ? shows every key and q quits. Without a terminal it prints a table, as it does for a screen reader (INK_SCREEN_READER=true). Days are UTC days.',
    flags: { '--days <n>': 'how many days, today included: 1 to 30', '--plain': 'a table instead of the screen' },
    examples: ['stats', 'stats --plain --days 7', 'stats --json | jq .total'],
    json: '{days:[{date,count}],today,total,average}',
    run: async (context, _, { days, plain = false }) => (await import('../commands/stats.ts')).stats(context, { days, plain }),
  },
  {
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
    run: async (context, [shell = '']) => (await import('../commands/completion.ts')).completion(context, shell),
  },
  {
    usage: 'config list',
    group: 'This program',
    summary: 'the settings in use, and where each is from',
    examples: ['config list'],
    json: '{profile,host:{value,source},language:{value,source},path}',
    run: async (context) => (await import('../commands/config.ts')).listConfig(context),
  },
  {
    usage: 'config get <key>',
    group: 'This program',
    summary: 'one setting',
    choices: { key: ['host', 'language'] },
    examples: ['config get host'],
    json: '{key,value,source}',
    run: async (context, [key = '']) => (await import('../commands/config.ts')).getConfig(context, key),
  },
  {
    usage: 'config set <key> [value]',
    group: 'This program',
    summary: 'keep a setting; without a value it is forgotten',
    choices: { key: ['host', 'language'] },
    examples: ['config set host https://auth.example.com', 'config set language lv', 'config set host'],
    json: '{key,value,source}',
    run: async (context, [key = '', value]) => (await import('../commands/config.ts')).setConfig(context, key, value),
  },
];
