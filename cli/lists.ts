import type { Client } from '../contract/client.ts';
import type { CommandSpec, Flags } from './command.ts';
import { CommandError, EXIT, usageError } from './exit.ts';
import { records } from './terminal.ts';

type List<Item> = {
  /** Returns the items of the list. @throws CommandError usage, not found */
  load(client: Client, args: (string | undefined)[], flags: Flags): Promise<readonly Item[]>;
  /** The text of each column, by its heading. */
  columns: Readonly<Record<string, (item: Item) => string>>;
  /** What to say about an empty list, which then usually names the next command. */
  empty?: string;
};

/** Returns a command that prints a list of the account's objects: for people as a table, with `--json` as the service returns it. */
export function listCommand<Item>({ load, columns, empty, ...described }: List<Item> & Omit<CommandSpec, 'needs' | 'run'>): CommandSpec {
  return {
    ...described,
    needs: 'sign-in',
    async run({ terminal, signedIn }, args, flags) {
      const { client } = await signedIn();
      const items = await load(client, args, flags);
      const rows = items.map((item) => Object.values(columns).map((cell) => cell(item)));
      terminal.result(items, rows.length > 0 ? records(Object.keys(columns), rows, terminal) : '');
      if (rows.length === 0 && empty) terminal.note(empty);
      return EXIT.ok;
    },
  };
}

/** What a person may call an item of a list. */
type Kind<Item> = {
  /** Such as `API key`; the error of one that is not found has the code `api_key_not_found`. */
  noun: string;
  /** The command that lists all of them. */
  list: string;
  namesOf(item: Item): readonly string[];
  /** Identifies one of several with the same name. */
  idOf(item: Item): string;
};

/**
 * Returns the item that a person named, in any case.
 * @throws CommandError not found; usage when several have the name
 */
export function requireOne<Item>(items: readonly Item[], text: string, { noun, list, namesOf, idOf }: Kind<Item>): Item {
  const wanted = text.trim().toLowerCase();
  const found = items.filter((item) => namesOf(item).some((name) => name.toLowerCase() === wanted));
  if (found.length > 1)
    throw usageError(`You have ${found.length} ${noun}s of the name "${text}".`, `Give one of ${found.map(idOf).join(', ')}.`);
  if (found.length === 1) return found[0];
  const code = `${noun.toLowerCase().replace(' ', '_')}_not_found`;
  throw new CommandError(EXIT.notFound, code, `You have no ${noun} "${text}".`, `See yours with \`emailauth ${list}\`.`);
}
