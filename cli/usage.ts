import type { Command, CommanderError } from 'commander';
import { type CommandError, usageError } from './exit.ts';
import { printable } from './printable.ts';

/** What commander finds wrong with the arguments of a command, in words of ours. */
export function explainUsage(command: Command, { code, message }: CommanderError): CommandError {
  const line = lineOf(command);
  const help = `\`${line} --help\` shows how it is used.`;
  const typed = (text: string | undefined) => printable(text ?? '').slice(0, 60);
  const [, meant] = /\(Did you mean (?:one of )?([^()]+)\?\)/.exec(message) ?? [];
  const guess = (start: string) =>
    meant &&
    `Did you mean ${meant
      .split(', ')
      .map((each) => `\`${start}${each}\``)
      .join(' or ')}?`;
  const quoted = typed(/'(.+?)'/s.exec(message)?.[1]);
  switch (code) {
    case 'commander.help':
      return usageError(`${line} needs a command.`, `\`${line} --help\` lists them.`);
    case 'commander.unknownCommand':
      return usageError(
        `"${typed(command.args[0])}" is not a command of ${line}.`,
        guess(`${line} `) || `\`${line} --help\` lists its commands.`,
      );
    case 'commander.unknownOption':
      return usageError(`${quoted} is not a flag of ${line}.`, guess('') || `\`${line} --help\` lists its flags.`);
    case 'commander.missingArgument':
      return usageError(`<${quoted}> is missing: ${line} ${argumentsOf(command)}`, help);
    case 'commander.optionMissingArgument':
      return usageError(`A value is missing: ${quoted}`, help);
    case 'commander.excessArguments':
      // A command that is also the family of others.
      if (command.commands.length > 0) {
        return usageError(`"${typed(command.args[0])}" is not a command of ${line}.`, `\`${line} --help\` lists its commands.`);
      }
      return usageError(`${line} takes ${inWords(command.registeredArguments.length)}; ${command.args.length} were given.`, help);
    case 'commander.invalidArgument': {
      const { argument, value } = refusedBy(command);
      return usageError(`<${argument?.name()}> cannot be "${typed(value)}".`, `It is one of ${argument?.argChoices?.join(', ')}.`);
    }
    default:
      return usageError(typed(message.replace(/^error: /, '')), help);
  }
}

/** `emailauth sites add`. */
export function lineOf(command: Command): string {
  return [...pathOf(command.parent), command.name()].join(' ');
}

/** The words before a command's name; none for no command. */
function pathOf(command: Command | null): string[] {
  return command ? [...pathOf(command.parent), command.name()] : [];
}

const argumentsOf = (command: Command) =>
  command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)).join(' ');

const inWords = (count: number) => (count === 0 ? 'no arguments' : count === 1 ? 'one argument' : `${count} arguments`);

function refusedBy(command: Command) {
  const i = command.registeredArguments.findIndex(({ argChoices }, at) => argChoices && !argChoices.includes(command.args[at]));
  return { argument: command.registeredArguments[i], value: command.args[i] };
}
