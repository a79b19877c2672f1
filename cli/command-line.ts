import { stripVTControlCharacters, styleText } from 'node:util';
import { Argument, Command, CommanderError, Option } from 'commander';
import { type CommandSpec, createContext, type GlobalFlags, partsOf } from './command.ts';
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
function createProgram(version: string, run: RunCommand): Command {
  const program = new Command('emailauth').version(version).configureOutput({ writeErr: () => {} });
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
  const heading = (text: string) => (program.opts<GlobalFlags>().color === false ? text : styleText('bold', text));
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

/** Time limit for a command's clean-up after Ctrl-C, unless the command is marked with waitsForCleanUp. */
const CLEAN_UP_MS = 2_000;
/** npm forwards a Ctrl-C that the terminal has already sent to this process: only a later one is a second Ctrl-C. */
const SECOND_SIGNAL_MS = 1_000;

const runCommand: RunCommand = async (command, args, flags) => {
  // Ink and chalk read only FORCE_COLOR, when they are imported.
  if (flags.color === false || process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  const stop = new AbortController();
  isStdoutOwned = command.ownsStdout === true;
  endsWithStdout = !command.outlivesStdout;
  const { host: _, ...otherFlags } = flags;
  // `start --host` is the address to listen on.
  const context = createContext(command.ownsSignals ? otherFlags : flags, process.env, process.cwd(), stop.signal);
  if (command.ownsSignals) {
    process.exitCode = await command.run(context, args, flags);
    return;
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => end(() => reportError(error)));
  const interrupted = onInterrupt(stop, command.waitsForCleanUp ? Number.POSITIVE_INFINITY : CLEAN_UP_MS);
  try {
    process.exitCode = await Promise.race([command.run(context, args, flags), interrupted]);
  } catch (error) {
    throw stop.signal.aborted && !(error instanceof CommandError) ? interruption() : error;
  }
};

const interruption = () => new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled.');

/** Aborts the command at Ctrl-C, SIGTERM or when the terminal closes. Rejects when its clean-up takes too long. */
function onInterrupt(stop: AbortController, cleanUpMs: number): Promise<never> {
  return new Promise((_, reject) => {
    let firstAt = 0;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (firstAt && Date.now() - firstAt > SECOND_SIGNAL_MS) process.exit(EXIT.cancelled);
        if (firstAt) return;
        firstAt = Date.now();
        if (process.stderr.isTTY) process.stderr.write('\n');
        if (Number.isFinite(cleanUpMs)) setTimeout(() => reject(interruption()), cleanUpMs);
        stop.abort();
      });
    }
  });
}

const versionText = process.argv.includes('--json') ? printableJson({ version: version() }) : version();
const program = createProgram(versionText, runCommand);
let hasEnded = false;
let isStdoutOwned = false;
let endsWithStdout = true;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!endsWithStdout) return;
  // The reader of our output has closed it, `head` for instance.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  process.stderr.write(`The result could not be written: ${error.message}\n`);
  process.exit(EXIT.failure);
});
process.stderr.on('error', () => {});

await end(run);

async function run(): Promise<void> {
  const [command, dashes, ...words] = process.argv.slice(2);
  try {
    // The completion scripts call this at every Tab; it is not for people.
    if (command === 'complete' && dashes === '--') return await printCompletion(words);
    await program.parseAsync();
  } catch (error) {
    reportError(error);
  }
}

async function printCompletion(words: string[]): Promise<void> {
  const { complete } = await import('./completion.ts');
  process.stdout.write(await complete(words, (flags) => createContext(flags, process.env, process.cwd(), new AbortController().signal)));
}

/** Exits after all output is written. What fails after that, a connection for instance, is ignored. */
async function end(last: () => void | Promise<void>): Promise<void> {
  await last();
  if (hasEnded) return;
  hasEnded = true;
  for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve));
  process.exit();
}

/** Prints an error and sets the exit code; all errors end here. */
function reportError(error: unknown): void {
  if (hasEnded || (error instanceof CommanderError && error.exitCode === 0)) return;
  const { exitCode, code, message, hint } = describeFailure(error);
  const { json, verbose } = program.opts<GlobalFlags>();
  process.exitCode = exitCode;
  if (json && !isStdoutOwned) process.stdout.write(`${printableJson({ error: { code, message, hint } })}\n`);
  // A message from the service may contain styles.
  else {
    const text = printable(stripVTControlCharacters(`${message}\n${hint ? `${hint}\n` : ''}`));
    process.stderr.write(fitColumns(text, columnsOf(process.stderr)));
  }
  if (verbose && error instanceof Error)
    process.stderr.write(printable(`${exitCode === EXIT.failure ? error.stack : ''}${describeCauses(error)}\n`));
}

function describeCauses({ cause }: Error): string {
  if (!(cause instanceof Error)) return '';
  const { message, code } = cause as NodeJS.ErrnoException;
  return `\nbecause: ${message || code || cause.name}${describeCauses(cause)}`;
}
