import { setMaxListeners } from 'node:events';
import type { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import { Argument, Command, CommanderError, Option } from 'commander';
import { type CommandSpec, createContext, type GlobalFlags, type Invocation, partsOf } from './command.ts';
import { commands, GLOBAL_FLAGS } from './commands.ts';
import { CommandError, describeFailure, EXIT, usageError } from './exit.ts';
import { formatHelp, helpData } from './help.ts';
import { version } from './installation.ts';
import { columnsOf, fitColumns, printable, printableJson } from './terminal.ts';

/** Runs one command with the arguments and flags that were typed. */
type RunCommand = (command: CommandSpec, args: (string | undefined)[], flags: GlobalFlags & Record<string, unknown>) => Promise<void>;

/**
 * Creates commander's program from the list of commands. `--version` prints `version` as it is. It writes help and the version to stdout, and nothing to stderr:
 * parsing throws a CommandError for a usage error, and a CommanderError with exit code 0 after help and version.
 */
function createProgram(version: string, { stdout, env }: Invocation, run: RunCommand): Command {
  const program = new Command('emailauth').version(version).configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: () => {},
    getOutHelpWidth: () => stdout.columns ?? 80,
    getOutHasColors: () => showsColors(env, stdout),
  });
  configure(program, program);
  for (const [flag, description] of Object.entries(GLOBAL_FLAGS)) {
    if (!/^-[hV]/.test(flag)) program.addOption(new Option(flag, description));
  }
  for (const command of commands) addCommand(program, command, run);
  // `emailauth help sites add` is `emailauth sites add --help`, with the same error for an unknown command.
  program.command('help [words...]').action(async (words: string[]) => {
    const json = program.opts<GlobalFlags>().json ? ['--json'] : [];
    await program.parseAsync([...words, '--help', ...json], { from: 'user' });
  });
  return program;
}

const showsColors = ({ NO_COLOR, FORCE_COLOR = '', TERM }: Invocation['env'], { isTTY }: Invocation['stdout']): boolean =>
  !NO_COLOR && !/^(?:0|false)$/.test(FORCE_COLOR) && (FORCE_COLOR !== '' || (isTTY === true && TERM !== 'dumb'));

function addCommand(program: Command, spec: CommandSpec, run: RunCommand): void {
  const { name, args } = partsOf(spec);
  const names = name.split(' ');
  let parent = program;
  for (const word of names.slice(0, -1)) parent = parent.commands.find((each) => each.name() === word) ?? addWord(program, parent, word);
  const command = addWord(program, parent, names[names.length - 1]);
  for (const word of args) {
    const argument = new Argument(word);
    const choices = spec.choices?.[argument.name()];
    command.addArgument(typeof choices === 'object' ? argument.choices(choices) : argument);
  }
  for (const [flag, description] of Object.entries(spec.flags ?? {})) {
    const option = new Option(flag, description);
    const choices = spec.choices?.[option.long ?? ''];
    command.addOption(typeof choices === 'object' ? option.choices(choices) : option);
  }
  command.action(() => run(spec, command.processedArgs as (string | undefined)[], command.optsWithGlobals()));
}

function addWord(program: Command, parent: Command, name: string): Command {
  const command = parent.command(name);
  configure(program, command);
  return command;
}

/** Replaces commander's help and error messages by ours. */
function configure(program: Command, command: Command): void {
  const json = () => program.opts<GlobalFlags>().json;
  // Commander strips styles when stdout shows none.
  const heading = (text: string) =>
    program.opts<GlobalFlags>().color === false ? text : styleText('bold', text, { validateStream: false });
  command
    .helpCommand(false)
    .configureHelp({
      formatHelp: (_, { helpWidth }) => {
        requireKnownCommand(command);
        const path = commandPath(command).split(' ').slice(1);
        if (json()) return `${JSON.stringify(helpData(path), null, 2)}\n`;
        return formatHelp(path, { width: Math.min(80, helpWidth ?? 80), heading });
      },
    })
    .exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      // The first word of a family alone, or the program: a person gets its help, a program that reads JSON an error.
      if (error.code !== 'commander.help' || json()) throw toUsageError(command, error);
      command.outputHelp();
      throw new CommanderError(0, 'commander.helpDisplayed', '');
    });
}

/** Without this, commander prints the help of the family for `emailauth sites lst --help`. */
function requireKnownCommand(command: Command): void {
  const [word] = command.args;
  if (command.commands.length === 0 || !word || word.startsWith('-')) return;
  // Missing in its types; it suggests a similar name.
  (command as Command & { unknownCommand(): void }).unknownCommand();
}

/** Returns our error for one that commander found in the arguments of a command. */
function toUsageError(command: Command, { code, message }: CommanderError): CommandError {
  const path = commandPath(command);
  const help = `\`${path} --help\` shows its usage.`;
  const quote = (text: string | undefined) => printable(text ?? '').slice(0, 60);
  const [, suggested] = /\(Did you mean (?:one of )?([^()]+)\?\)/.exec(message) ?? [];
  const quoted = quote(/'(.+?)'/s.exec(message)?.[1]);
  const suggestion = (prefix: string) => {
    // Commander alone would suggest `open` for `nope`.
    const similar = suggested?.split(', ').filter((each) => firstLetter(each) === firstLetter(quoted)) ?? [];
    return similar.length > 0 && `Did you mean ${similar.map((each) => `\`${prefix}${each}\``).join(' or ')}?`;
  };
  const unknownCommand = (hint: string) => usageError(`"${quote(command.args[0])}" is not a command of ${path}.`, hint);
  switch (code) {
    case 'commander.help':
      return usageError(`${path} needs a command.`, `\`${path} --help\` lists them.`);
    case 'commander.unknownCommand':
      return unknownCommand(suggestion(`${path} `) || `\`${path} --help\` lists its commands.`);
    case 'commander.unknownOption':
      return usageError(`${quoted} is not a flag of ${path}.`, suggestion('') || `\`${path} --help\` lists its flags.`);
    case 'commander.missingArgument':
      return usageError(`<${quoted}> is missing: ${path} ${argumentsOf(command)}`, help);
    case 'commander.optionMissingArgument':
      return usageError(`A value is missing: ${quoted}`, help);
    case 'commander.excessArguments':
      // A command that is also the first word of others.
      if (command.commands.length > 0) return unknownCommand(`\`${path} --help\` lists its commands.`);
      return usageError(`${path} takes ${countArguments(command.registeredArguments.length)}; ${command.args.length} were given.`, help);
    case 'commander.invalidArgument': {
      const { name, value, choices } = parseInvalidChoice(message);
      return usageError(`${name} cannot be "${quote(value)}".`, `It is one of ${choices}`);
    }
    default:
      return usageError(quote(message.replace(/^error: /, '')), help);
  }
}

const firstLetter = (word: string) => word.replace(/^-+/, '').at(0);

/** Returns the words of a command, such as `emailauth sites add`. */
function commandPath(command: Command): string {
  return command.parent ? `${commandPath(command.parent)} ${command.name()}` : command.name();
}

const argumentsOf = (command: Command) =>
  command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)).join(' ');

const countArguments = (count: number) => (count === 0 ? 'no arguments' : count === 1 ? 'one argument' : `${count} arguments`);

/** Parses what commander says about the value of a flag or an argument that is none of its choices, whatever is in the value. */
function parseInvalidChoice(message: string) {
  const flag = /^error: option '(--[\w-]+)/.exec(message)?.[1];
  const before = flag ? "' argument '" : "value '";
  const last = (text: string) => message.slice(message.lastIndexOf(text) + text.length);
  return {
    name: flag ?? `<${last("for argument '").split("'")[0]}>`,
    value: message.slice(message.indexOf(before) + before.length, message.lastIndexOf("' is invalid")),
    choices: last('Allowed choices are '),
  };
}

/** What the process does around a command. */
type Hooks = {
  /** Called before a command runs, which ends with the error that is passed to `fail`, such as an uncaught one. */
  onCommand?(command: CommandSpec, fail: (error: unknown) => void): void;
};

/** Time limit for a command's clean-up after an interruption, unless the command is marked with waitsForCleanUp. */
const CLEAN_UP_MS = 2_000;

/**
 * Runs `emailauth` with the arguments after its name. What it prints goes to the given streams; nothing is read from the process.
 * @returns the exit code
 */
export async function run(argv: readonly string[], { onCommand, ...invocation }: Invocation & Hooks): Promise<number> {
  const { stdout, stderr, signal } = invocation;
  // Every request and check of a command listens to this signal, and an assistant may begin many at once.
  setMaxListeners(0, signal);
  let exitCode: number = EXIT.ok;
  let isStdoutOwned = false;
  const versionText = argv.includes('--json') ? printableJson({ version: version() }) : version();
  const program = createProgram(versionText, invocation, async (command, args, flags) => {
    isStdoutOwned = command.ownsStdout === true;
    const { host: _, ...otherFlags } = flags;
    // `start --host` is the address to listen on.
    const context = createContext(command.ownsSignals ? otherFlags : flags, invocation);
    const failed = new Promise<never>((_, reject) => onCommand?.(command, reject));
    const running = [command.run(context, args, flags), failed];
    if (!command.ownsSignals && !command.waitsForCleanUp) running.push(interruptedFor(CLEAN_UP_MS, signal));
    try {
      exitCode = await Promise.race(running);
    } catch (error) {
      throw signal.aborted && !(error instanceof CommandError) ? interruption() : error;
    }
  });
  try {
    const [command, dashes, ...words] = argv;
    // The completion scripts call this at every Tab; it is not for people.
    if (command === 'complete' && dashes === '--') {
      const { complete } = await import('./completion.ts');
      stdout.write(await complete(words, (flags) => createContext(flags, invocation)));
    } else await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { json, verbose } = program.opts<GlobalFlags>();
    return reportError(error, json && !isStdoutOwned ? stdout : null, stderr, verbose);
  }
}

const interruption = () => new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled.');

/** Rejects when a command has not ended `cleanUpMs` after its interruption. */
function interruptedFor(cleanUpMs: number, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(interruption()), cleanUpMs));
  });
}

/**
 * Prints an error; all errors end here.
 * @param stdout gets it as JSON; null: a person reads it on stderr
 * @returns the exit code
 */
function reportError(error: unknown, stdout: Writable | null, stderr: Invocation['stderr'], verbose = false): number {
  const { exitCode, code, message, hint } = describeFailure(error);
  if (stdout) stdout.write(`${printableJson({ error: { code, message, hint } })}\n`);
  // A message from the service may contain styles.
  else {
    const text = printable(stripVTControlCharacters(`${message}\n${hint ? `${hint}\n` : ''}`));
    stderr.write(fitColumns(text, columnsOf(stderr)));
  }
  if (verbose && error instanceof Error)
    stderr.write(printable(`${exitCode === EXIT.failure ? error.stack : ''}${describeCauses(error)}\n`));
  return exitCode;
}

function describeCauses({ cause }: Error): string {
  if (!(cause instanceof Error)) return '';
  const { message, code } = cause as NodeJS.ErrnoException;
  return `\nbecause: ${message || code || cause.name}${describeCauses(cause)}`;
}
