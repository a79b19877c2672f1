import { type CommandRow, GROUPS, partsOf } from './command-row.ts';
import { commands, GLOBAL_FLAGS } from './commands.ts';
import { EXIT_MEANINGS } from './exit.ts';
import { commandLine } from './help.ts';

/** docs/cli.md: every command of the table, as Markdown. */
export function referenceText(): string {
  const groups = GROUPS.flatMap((group) => [`## ${group}`, ...commands.filter((row) => row.group === group).map(commandText)]);
  return `${[INTRODUCTION, contents(), conventions(), ...groups].join('\n\n')}\n`;
}

const INTRODUCTION = `# The command line

<!-- Written by \`npm run docs\` from cli/commands.ts: change it there. -->

\`emailauth\` registers domains, signs you in, manages your websites, adds the sign-in to a project, shows the figures, and runs the service.
It needs [Node.js](https://nodejs.org) 20.19 or newer.

\`\`\`sh
npx emailauth --help    # in the repository, once it was built: npm start, or npm run build
npm install --global .  # there too, for every directory; npm pack makes a file to install elsewhere
\`\`\`

Shells complete commands, flags, and the domains of whoever is signed in: see [completion](#completion).`;

function contents(): string {
  const lines = GROUPS.map((group) => {
    const names = commands.filter((row) => row.group === group).map((row) => partsOf(row).name);
    return `| ${group} | ${names.map((name) => `[${name}](#${name.replaceAll(' ', '-')})`).join(' · ')} |`;
  });
  return ['| | |', '|---|---|', ...lines].join('\n');
}

function conventions(): string {
  return `## What every command keeps to

- The answer goes to stdout, everything else to stderr. With \`--json\` the answer is one JSON value, and so is an error:
  \`{"error":{"code","message","hint"}}\`. New codes and properties may be added; those that are there stay.
- Without a terminal, with \`CI\` set and with \`--no-input\` nothing is asked: what is missing is named, and the exit code is 3.
- No secret is a flag, since every process of the machine can read those. \`EMAILAUTH_TOKEN\` holds an API key and comes before a stored
  sign-in; \`EMAILAUTH_ADMIN_PASSWORD\` holds the operator's password.
- The sign-in and the settings lie in \`$XDG_CONFIG_HOME/emailauth\` (\`~/.config/emailauth\`), readable by you alone. \`--profile\` or
  \`EMAILAUTH_PROFILE\` takes another set.
- The service is \`--host\`, else \`EMAILAUTH_HOST\`, else the setting \`host\`, else http://localhost:3000. Plain http is taken for this machine alone.
- A family of commands by itself, such as \`emailauth sites\`, prints its help with exit code 0. \`--help --json\` describes commands as data.

${table(['Global flag', ''], Object.entries(GLOBAL_FLAGS))}

${table(['Exit code', ''], Object.entries(EXIT_MEANINGS), (code) => code)}`;
}

function commandText(row: CommandRow): string {
  const { name } = partsOf(row);
  const needs = { service: 'Needs the service.', 'sign-in': 'Needs a sign-in.' };
  const notes = [row.about, row.needs && needs[row.needs]].filter(Boolean).join(' ');
  const limited = Object.entries(row.choices ?? {}).filter(([, values]) => typeof values === 'object') as [string, readonly string[]][];
  return [
    `### ${name}`,
    `\`emailauth ${row.usage} [flags]\``,
    `${row.summary[0].toUpperCase()}${row.summary.slice(1)}.${notes && ` ${notes}`}`,
    ...limited.map(([argument, values]) => `\`${argument}\` is ${values.map((value) => `\`${value}\``).join(', ')}.`),
    ...(row.flags ? [table(['Flag', ''], Object.entries(row.flags))] : []),
    ['```sh', ...row.examples.map(commandLine), '```'].join('\n'),
    ...(row.json ? [`Answers \`${row.json}\` with \`--json\`.`] : []),
    ...Object.entries(row.exits ?? {}).map(([code, meaning]) => `Exit code ${code}: ${meaning}.`),
  ].join('\n\n');
}

function table(heads: readonly string[], rows: readonly (readonly [string, string])[], first = (text: string) => `\`${text}\``): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  // In code, < stands for itself.
  const lines = rows.map(([term, meaning]) => `| ${first(term).replaceAll('|', '\\|')} | ${cell(meaning)} |`);
  return [`| ${heads.join(' | ')} |`, '|---|---|', ...lines].join('\n');
}
