import { styleText } from 'node:util';
import { Argument, Command, CommanderError, Option } from 'commander';
import { type CommandRow, partsOf } from './command-row.ts';
import { commands, GLOBAL_FLAGS } from './commands.ts';
import type { GlobalFlags } from './context.ts';
import { helpData, helpOf } from './help.ts';
import { explainUsage, lineOf } from './usage.ts';

/** Runs one command with what was typed. */
export type RunRow = (row: CommandRow, args: (string | undefined)[], flags: GlobalFlags & Record<string, unknown>) => Promise<void>;

/**
 * Makes commander's program of the table in commands.ts. It writes help and the version to stdout, and nothing to stderr:
 * parsing throws a CommandError for what is wrong, and a CommanderError with exit code 0 after help and version.
 */
export function createProgram(version: string, runRow: RunRow): Command {
  const program = new Command('emailauth').version(version).configureOutput({ writeErr: () => {} });
  settle(program, program);
  for (const [flag, description] of Object.entries(GLOBAL_FLAGS)) {
    if (!/^-[hV]/.test(flag)) program.addOption(new Option(flag, description));
  }
  for (const row of commands) addRow(program, row, runRow);
  // `emailauth help sites add` is `emailauth sites add --help`, with the same words for a command that is none.
  program.command('help [words...]').action(async (words: string[]) => {
    const json = program.opts<GlobalFlags>().json ? ['--json'] : [];
    await program.parseAsync([...words, '--help', ...json], { from: 'user' });
  });
  return program;
}

function addRow(program: Command, row: CommandRow, runRow: RunRow): void {
  const { name, args } = partsOf(row);
  const names = name.split(' ');
  let parent = program;
  for (const word of names.slice(0, -1)) parent = parent.commands.find((each) => each.name() === word) ?? addCommand(program, parent, word);
  const command = addCommand(program, parent, names[names.length - 1]);
  for (const word of args) {
    const argument = new Argument(word);
    const choices = row.choices?.[argument.name()];
    command.addArgument(typeof choices === 'object' ? argument.choices(choices) : argument);
  }
  for (const [flag, description] of Object.entries(row.flags ?? {})) command.option(flag, description);
  command.action(() => runRow(row, command.processedArgs as (string | undefined)[], command.optsWithGlobals()));
}

function addCommand(program: Command, parent: Command, name: string): Command {
  const command = parent.command(name);
  settle(program, command);
  return command;
}

/** Help and errors of ours for a command, which commander gives itself in its own words. */
function settle(program: Command, command: Command): void {
  const json = () => program.opts<GlobalFlags>().json;
  // Commander takes styles out again where stdout shows none.
  const heading = (text: string) => (program.opts<GlobalFlags>().color === false ? text : styleText('bold', text));
  command
    .helpCommand(false)
    .configureHelp({
      formatHelp: (_, { helpWidth }) => {
        mustBeCommand(command);
        const path = lineOf(command).split(' ').slice(1);
        if (json()) return `${JSON.stringify(helpData(path), null, 2)}\n`;
        return helpOf(path, { width: Math.min(80, helpWidth ?? 80), heading });
      },
    })
    .exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      // A family of commands alone, or the program: its help is what is wanted, but not by a program that reads JSON.
      if (error.code !== 'commander.help' || json()) throw explainUsage(command, error);
      command.outputHelp();
      throw new CommanderError(0, 'commander.helpDisplayed', '');
    });
}

/** Commander prints the help of the family for `emailauth sites lst --help`. */
function mustBeCommand(command: Command): void {
  const [word] = command.args;
  if (command.commands.length === 0 || !word || word.startsWith('-')) return;
  // Not in its types; it looks for a name that is near.
  (command as Command & { unknownCommand(): void }).unknownCommand();
}
