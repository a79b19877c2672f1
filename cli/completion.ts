import { type CommandSpec, type Context, type GlobalFlags, partsOf } from './command.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';

/** How long a person waits for the service after Tab. A first request to a distant one takes four round trips. */
const SERVICE_TIMEOUT_MS = 1_000;

/** A value that a shell may insert, and its description. */
type Candidate = readonly [value: string, description: string];

type Suggestion = {
  /** Those that start with what is typed. */
  candidates: Candidate[];
  /** Where other candidates come from, which the list of commands does not have. */
  source: 'sites' | 'frameworks' | 'files' | undefined;
  /** What is typed of the word, without `--flag=`. */
  typed: string;
  /** Flags earlier in the line that select the service. */
  flags: { host?: string; profile?: string };
};

type ParsedLine = { words: string[]; flags: Map<string, string>; pendingFlag?: string };

/**
 * Returns what the completion script of a shell reads at Tab: lines `value<Tab>description`, then `:4`, or `:0` where the shell
 * completes files (the protocol of Go's cobra and of @bomb.sh/tab). Values that need the service are left out when it does not
 * respond or does not know the caller.
 * @param words those after the program's name, the last one being typed
 * @param createContext creates the context of a command with these flags
 */
export async function complete(words: readonly string[], createContext: (flags: GlobalFlags) => Context): Promise<string> {
  const { candidates, source, typed, flags } = suggestionFor(words);
  const loaded =
    source && source !== 'files' ? await loadCandidates(source, () => createContext({ ...flags, quiet: true })).catch(() => []) : [];
  // A shell inserts the word unquoted: values from the service may contain nothing that has a meaning for it.
  const safe = loaded.filter(([value]) => value.startsWith(typed) && /^[a-z0-9][\w.-]*$/i.test(value));
  const lines = [...candidates, ...safe].map(([value, description]) => `${value}\t${description}\n`);
  return `${lines.join('')}${source === 'files' ? ':0' : ':4'}\n`;
}

async function loadCandidates(source: 'sites' | 'frameworks', openContext: () => Context): Promise<Candidate[]> {
  if (source === 'frameworks') {
    const { frameworks } = await import('../templates/catalog.ts');
    return frameworks.map(({ id, name }) => [id, name]);
  }
  const { client } = await openContext().signedIn();
  const websites = await client.listWebsites({}, { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) });
  return websites.map(({ domain }) => [domain, '']);
}

/**
 * Returns what may come next on a command line.
 * @param line the words after `emailauth`; the last one is being typed and may be empty
 */
export function suggestionFor(line: readonly string[]): Suggestion {
  const current = line[line.length - 1] ?? '';
  const { words, flags: given, pendingFlag } = parseLine(line.slice(0, -1));
  const command = findCommand(words);
  const flags = { host: given.get('--host'), profile: given.get('--profile') };
  const suggest = (typed: string, all: readonly Candidate[], source?: Suggestion['source']): Suggestion => {
    return { candidates: all.filter(([value]) => value.startsWith(typed)), source, typed, flags };
  };
  const suggestValues = (typed: string, name: string) => {
    const choices = command?.choices?.[name];
    if (typeof choices === 'string') return suggest(typed, [], choices);
    const values = (choices ?? []).map((value): Candidate => [value, '']);
    return suggest(typed, values);
  };
  if (pendingFlag) return suggestValues(current, pendingFlag);
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  if (flag) return suggestValues(value, flag);
  if (current.startsWith('-')) {
    const unused = flagsOf(command).filter(([name]) => !given.has(name));
    return suggest(current, unused);
  }
  if (!command) return suggest(current, nextWords(words));
  const { name, args } = partsOf(command);
  if (name === words.join(' ') && nextWords(words).length > 0) return suggest(current, nextWords(words));
  const argument = args[words.length - name.split(' ').length];
  return words[0] === 'help' || !argument ? suggest(current, []) : suggestValues(current, argument.replace(/\W/g, ''));
}

/** Separates the words of a line from its flags. `pendingFlag` is a flag at its end whose value is missing. */
function parseLine(line: readonly string[]): ParsedLine {
  const parsed: ParsedLine = { words: [], flags: new Map() };
  for (const word of line) {
    if (parsed.pendingFlag) {
      parsed.flags.set(parsed.pendingFlag, word);
      parsed.pendingFlag = undefined;
    } else if (word.startsWith('-') && word !== '-') {
      const [name, value] = word.split(/=(.*)/s);
      parsed.flags.set(name, value ?? '');
      if (value === undefined && takesValue(name, findCommand(parsed.words))) parsed.pendingFlag = name;
    } else if (word !== 'help' || parsed.words.length > 0) parsed.words.push(word);
  }
  return parsed;
}

/** Returns the command with the longest matching name: `mcp` is a command, and the first word of others. */
function findCommand(words: readonly string[]): CommandSpec | undefined {
  const matching = commands.filter((command) => `${words.join(' ')} `.startsWith(`${partsOf(command).name} `));
  return matching.sort((a, b) => partsOf(b).name.length - partsOf(a).name.length)[0];
}

/** Returns the flags of a command, which override global ones, followed by the global ones. */
const allFlags = (command: CommandSpec | undefined) => ({ ...command?.flags, ...GLOBAL_FLAGS });

const takesValue = (name: string, command: CommandSpec | undefined) =>
  Object.keys(allFlags(command)).some((flag) => flag.startsWith(`${name} <`));

function flagsOf(command: CommandSpec | undefined): Candidate[] {
  const found = new Map<string, string>();
  for (const [flag, meaning] of Object.entries(allFlags(command))) {
    const name = /--[\w-]+/.exec(flag)?.[0] ?? flag;
    if (!found.has(name)) found.set(name, meaning);
  }
  return [...found];
}

/** Returns the words that continue a command: at the beginning all first words, after a family its commands. */
function nextWords(words: readonly string[]): Candidate[] {
  const found = new Map<string, string>();
  for (const command of commands) {
    const names = partsOf(command).name.split(' ');
    if (words.length >= names.length || words.some((word, i) => word !== names[i])) continue;
    const next = names[words.length];
    found.set(next, names.length > words.length + 1 ? FAMILIES[next] : command.summary);
  }
  if (words.length === 0) found.set('help', 'print the help of a command');
  return [...found];
}
