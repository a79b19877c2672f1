import { type CommandSpec, GROUPS, partsOf } from './command.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';
import { EXIT_MEANINGS } from './exit.ts';
import { wrap, wrapAround } from './terminal.ts';

type Pair = readonly [term: string, meaning: string];
type Section = { heading: string; lines: readonly string[] };

/** How help is printed: the columns available, and the style of a heading. */
type HelpStyle = { width: number; heading(text: string): string };

/**
 * Returns what `--help` prints.
 * @param path the words of a command, `['sites', 'add']`, or of a family, `['sites']`; empty: the program
 */
export function formatHelp(path: readonly string[], { width, heading }: HelpStyle): string {
  const command = commands.find((each) => partsOf(each).name === path.join(' '));
  const { intro, sections } = command ? commandHelp(command, width) : path.length > 0 ? familyHelp(path[0], width) : programHelp(width);
  const body = sections.filter(({ lines }) => lines.length > 0).map((each) => `${heading(each.heading)}\n${each.lines.join('\n')}`);
  return `${[...intro, ...body].join('\n\n')}\n`;
}

/** Returns the same as data: what `--help --json` prints. */
export function helpData(path: readonly string[]) {
  const matching = commands.filter((command) => `${partsOf(command).name} `.startsWith(path.map((word) => `${word} `).join('')));
  return {
    commands: matching.map(
      ({ run: _, ownsSignals: __, waitsForCleanUp: ___, ownsStdout: ____, outlivesStdout: _____, ...described }) => described,
    ),
    globalFlags: GLOBAL_FLAGS,
    exitCodes: EXIT_MEANINGS,
  };
}

function programHelp(width: number) {
  const groups = GROUPS.map((group) => {
    const pairs = new Map<string, string>();
    for (const command of commands.filter((each) => each.group === group)) {
      const [first, second] = partsOf(command).name.split(' ');
      pairs.set(first, second ? describeFamily(first) : command.summary);
    }
    return { heading: group, pairs: [...pairs] };
  });
  const termWidth = widest(groups.flatMap(({ pairs }) => pairs));
  return {
    intro: [paragraphOf('Passwordless email sign-in for any website, from the terminal.', width), usage('<command>', width)],
    sections: [
      ...groups.map(({ heading, pairs }) => ({ heading, lines: inColumns(pairs, width, termWidth) })),
      flagSection('Global flags', GLOBAL_FLAGS, width),
      examples(['register shop.example --email you@example.com', 'login', 'init', 'stats'], width),
      learnMore(
        ['`emailauth help <command>` prints the flags and examples of a command.', '`emailauth open docs` opens the documentation.'],
        width,
      ),
    ],
  };
}

function familyHelp(family: string, width: number) {
  const members = commands.filter((command) => partsOf(command).name.startsWith(`${family} `));
  return {
    intro: [paragraphOf(sentence(describeFamily(family)), width), usage(`${family} <command>`, width)],
    sections: [
      { heading: 'Commands', lines: inColumns(usagesIn(family, members), width) },
      examples(
        members.slice(0, 3).map((command) => command.examples[0]),
        width,
      ),
      flagSection('Global flags', GLOBAL_FLAGS, width),
      learnMore([`\`emailauth help ${family} <command>\` prints the flags and examples of a command.`], width),
    ],
  };
}

const usagesIn = (family: string, members: readonly CommandSpec[]) =>
  members.map((command): Pair => [command.usage.slice(family.length + 1), command.summary]);

function commandHelp(command: CommandSpec, width: number) {
  const own = Object.keys(command.flags ?? {}).map(nameOf);
  const globals = Object.entries(GLOBAL_FLAGS).filter(([flag]) => !own.includes(nameOf(flag)));
  const choices = Object.entries(command.choices ?? {}).filter(([name, values]) => Array.isArray(values) && !name.startsWith('-'));
  const exits = Object.entries(command.exits ?? {}).map(([code, meaning]): Pair => [code.padStart(2), meaning]);
  const { name } = partsOf(command);
  const below = commands.filter((each) => partsOf(each).name.startsWith(`${name} `));
  return {
    intro: [
      paragraphOf(sentence(command.summary), width),
      ...(command.about ? [paragraphOf(command.about, width)] : []),
      usage(command.usage, width),
    ],
    sections: [
      { heading: 'Commands', lines: inColumns(usagesIn(name, below), width) },
      {
        heading: 'Arguments',
        lines: inColumns(
          choices.map(([name, values]): Pair => [name, (values as string[]).join(', ')]),
          width,
        ),
      },
      flagSection('Flags', command.flags ?? {}, width),
      examples(command.examples, width),
      { heading: 'With --json', lines: command.json ? [indent(paragraphOf(command.json.replaceAll(',', ', '), width - 2))] : [] },
      { heading: 'Further exit codes', lines: inColumns(exits, width) },
      flagSection('Global flags', Object.fromEntries(globals), width),
    ],
  };
}

/** Short flags have their own column. */
function flagSection(heading: string, flags: Readonly<Record<string, string>>, width: number): Section {
  const hasShort = Object.keys(flags).some((flag) => !flag.startsWith('--'));
  const pairs = Object.entries(flags).map(([flag, meaning]): Pair => [hasShort && flag.startsWith('--') ? `    ${flag}` : flag, meaning]);
  return { heading, lines: inColumns(pairs, width) };
}

const QUOTED = /"[^"]*"|'[^']*'/g;

/** A line that is too long continues after a backslash, so that it can be copied. */
function examples(lines: readonly string[], width: number): Section {
  const typed = lines.map((line) => `  $ ${wrapAround(commandLine(line), QUOTED, width - 8).join(' \\\n      ')}`);
  return { heading: typed.length === 1 ? 'Example' : 'Examples', lines: typed };
}

/** Returns an example with the program's name. */
const commandLine = (example: string) => (example.includes('emailauth ') ? example : `emailauth ${example}`);

const learnMore = (lines: readonly string[], width: number): Section => ({
  heading: 'Learn more',
  lines: lines.map((line) => indent(paragraphOf(line, width - 2))),
});

/** Returns `--email` for `-e, --email <address>`. */
const nameOf = (flag: string) => /--[\w-]+/.exec(flag)?.[0];

function describeFamily(family: string): string {
  const members = commands.map((command) => partsOf(command).name.split(' ')).filter(([first, second]) => first === family && second);
  return `${FAMILIES[family]}: ${members.map(([, second]) => second).join(', ')}`;
}

const usage = (line: string, width: number) => wrap(`Usage: emailauth ${line} [flags]`, width).join('\n  ');
const sentence = (text: string) => `${text[0].toUpperCase()}${text.slice(1)}.`;
const paragraphOf = (text: string, width: number) => wrap(text, width).join('\n');
const indent = (text: string) => text.replace(/^/gm, '  ');
const widest = (pairs: readonly Pair[]) => Math.max(0, ...pairs.map(([term]) => term.length));

const MIN_MEANING_WIDTH = 20;

function inColumns(pairs: readonly Pair[], width: number, termWidth = widest(pairs)): string[] {
  const start = termWidth + 4;
  // In a narrow terminal each meaning is below its term.
  if (width - start < MIN_MEANING_WIDTH)
    return pairs.map(([term, meaning]) => [`  ${term}`, ...wrap(meaning, width - 8).map((line) => `        ${line}`)].join('\n'));
  return pairs.map(([term, meaning]) => {
    const [first, ...rest] = wrap(meaning, width - start);
    return [`  ${term.padEnd(termWidth)}  ${first}`, ...rest.map((line) => ' '.repeat(start) + line)].join('\n');
  });
}

/** Returns docs/cli.md: every command, as Markdown. */
export function referenceText(): string {
  const groups = GROUPS.flatMap((group) => [`## ${group}`, ...commands.filter((command) => command.group === group).map(commandText)]);
  return `${[INTRODUCTION, contents(), conventions(), ...groups].join('\n\n')}\n`;
}

const INTRODUCTION = `# The command line

<!-- Generated by \`npm run docs\` from cli/commands/ and cli/help.ts: change it there. -->

\`emailauth\` registers domains, signs you in, manages your websites, adds the sign-in to a project, shows statistics, and runs the service.
It needs [Node.js](https://nodejs.org) 20.19 or newer.

\`\`\`sh
node dist/cli/main.js --help  # in the repository, after npm start or npm run build
npm install --global .        # in the repository, for use in any directory; npm run packages creates files to install elsewhere
\`\`\`

Shells complete commands, flags, and the domains of the signed-in account: see [completion](#completion).`;

function contents(): string {
  const lines = GROUPS.map((group) => {
    const names = commands.filter((command) => command.group === group).map((command) => partsOf(command).name);
    return `| ${group} | ${names.map((name) => `[${name}](#${name.replaceAll(' ', '-')})`).join(' · ')} |`;
  });
  return ['| | |', '|---|---|', ...lines].join('\n');
}

function conventions(): string {
  return `## Conventions

- The result goes to stdout, everything else to stderr. With \`--json\` the result is one JSON value, and so is an error:
  \`{"error":{"code","message","hint"}}\`. New codes and properties may be added; existing ones stay.
- Without a terminal, with \`TERM=dumb\`, with \`CI\` set and with \`--no-input\` there are no prompts: the error names what is missing, and
  the exit code is 3.
- No flag takes a secret, since every process on the machine can read flags. \`EMAILAUTH_TOKEN\` holds an API key and takes precedence over a
  stored sign-in; \`EMAILAUTH_ADMIN_PASSWORD\` holds the operator's password. Both are sent only to a service that is named: by \`--host\`,
  \`EMAILAUTH_HOST\` or the setting \`host\`.
- The sign-in and the settings are stored in \`$XDG_CONFIG_HOME/emailauth\` (\`~/.config/emailauth\`), readable only by you. \`--profile\` or
  \`EMAILAUTH_PROFILE\` selects another set.
- The service is \`--host\`, else \`EMAILAUTH_HOST\`, else the setting \`host\`, else http://localhost:4400. Plain http is only accepted for this machine.
- Calls over https go through the proxy of \`HTTPS_PROXY\`, unless \`NO_PROXY\` names the host. A call takes at most 30 s. \`NODE_EXTRA_CA_CERTS\` names
  the file of a certificate authority of your own.
- The first word of a family of commands alone, such as \`emailauth sites\`, prints its help with exit code 0. \`--help --json\` describes commands as data.

${table(['Global flag', ''], Object.entries(GLOBAL_FLAGS))}

${table(['Exit code', ''], Object.entries(EXIT_MEANINGS), (code) => code)}`;
}

function commandText(command: CommandSpec): string {
  const { name } = partsOf(command);
  const needs = { service: 'Needs the service.', 'sign-in': 'Needs a sign-in.' };
  const notes = [command.about, command.needs && needs[command.needs]].filter(Boolean).join(' ');
  const limited = Object.entries(command.choices ?? {}).filter(([, values]) => typeof values === 'object') as [string, readonly string[]][];
  return [
    `### ${name}`,
    `\`emailauth ${command.usage} [flags]\``,
    `${command.summary[0].toUpperCase()}${command.summary.slice(1)}.${notes && ` ${notes}`}`,
    ...limited.map(([argument, values]) => `\`${argument}\` is ${values.map((value) => `\`${value}\``).join(', ')}.`),
    ...(command.flags ? [table(['Flag', ''], Object.entries(command.flags))] : []),
    ['```sh', ...command.examples.map(commandLine), '```'].join('\n'),
    ...(command.json ? [`Returns \`${command.json}\` with \`--json\`.`] : []),
    ...Object.entries(command.exits ?? {}).map(([code, meaning]) => `Exit code ${code}: ${meaning}.`),
  ].join('\n\n');
}

function table(heads: readonly string[], rows: readonly (readonly [string, string])[], first = (text: string) => `\`${text}\``): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  // In code, < needs no escape.
  const lines = rows.map(([term, meaning]) => `| ${first(term).replaceAll('|', '\\|')} | ${cell(meaning)} |`);
  return [`| ${heads.join(' | ')} |`, '|---|---|', ...lines].join('\n');
}
