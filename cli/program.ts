import { Argument, Command, Option } from 'commander';
import { type CommandRow, commands, GLOBAL_FLAGS } from './commands.ts';
import type { GlobalFlags } from './context.ts';

/** Runs one command with what was typed. */
export type RunRow = (row: CommandRow, args: (string | undefined)[], flags: GlobalFlags & Record<string, unknown>) => Promise<void>;

/** Makes commander's program of the table in commands.ts. */
export function createProgram(version: string, runRow: RunRow): Command {
  const program = new Command('emailauth')
    .description('Passwordless e-mail sign-in for any site.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help to see how it is used)')
    .configureHelp({ showGlobalOptions: true, commandUsage: usageOf })
    .exitOverride();
  for (const [flag, description] of Object.entries(GLOBAL_FLAGS)) program.addOption(new Option(flag, description));
  program.addHelpText('after', examplesText(['register shop.example --email you@example.com', 'login', 'init', 'stats']));
  for (const row of commands) addRow(program, row, runRow);
  return program;
}

function addRow(program: Command, row: CommandRow, runRow: RunRow): void {
  const words = row.usage.split(' ');
  const names = words.filter((word) => /^\w/.test(word));
  let parent = program;
  for (const name of names.slice(0, -1)) parent = parent.commands.find((each) => each.name() === name) ?? addGroup(parent, name, row);
  const command = parent.command(names.at(-1) as string).summary(row.summary);
  command.description(row.about ? `${sentence(row.summary)}\n\n${row.about}` : sentence(row.summary)).helpGroup(`${row.group}:`);
  for (const word of words.slice(names.length)) {
    const argument = new Argument(word);
    const choices = row.choices?.[argument.name()];
    command.addArgument(choices ? argument.choices(choices) : argument);
  }
  for (const [flag, description] of Object.entries(row.flags ?? {})) command.option(flag, description);
  command.addHelpText('after', examplesText(row.examples) + answersText(row));
  command.action(() => runRow(row, command.processedArgs as (string | undefined)[], command.optsWithGlobals()));
}

/** `sites`, `config` and `db` hold commands and are none themselves. */
function addGroup(parent: Command, name: string, { group }: CommandRow): Command {
  const within = commands.filter(({ usage }) => usage.startsWith(`${name} `)).map(({ usage }) => usage.split(' ')[1]);
  return parent.command(name).description(within.join(' · ')).helpGroup(`${group}:`);
}

/** The whole line, as it is typed. */
function usageOf(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each; each = each.parent) names.unshift(each.name());
  const args = command.registeredArguments.map((argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
  return [...names, ...(command.commands.length > 0 ? ['<command>'] : args), '[options]'].join(' ');
}

function examplesText(examples: readonly string[]): string {
  const lines = examples.map((example) => `  $ ${example.includes('emailauth ') ? example : `emailauth ${example}`}`);
  return `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.join('\n')}\n`;
}

function answersText({ json, exits }: CommandRow): string {
  const lines = Object.entries(exits ?? {}).map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`);
  return (json ? `\nWith --json: ${json}\n` : '') + (lines.length > 0 ? `\nExit codes of its own:\n${lines.join('\n')}\n` : '');
}

const sentence = (text: string) => `${text[0].toUpperCase()}${text.slice(1)}.`;
