import { CommandError, EXIT, usageError } from './exit.ts';

/** What a person may call an item of a list, and how to report one that is not found. */
type Kind<Item> = {
  /** Such as `application`; the error has the code `application_not_found`. */
  noun: string;
  code: string;
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
export function requireOne<Item>(items: readonly Item[], text: string, { noun, code, list, namesOf, idOf }: Kind<Item>): Item {
  const wanted = text.trim().toLowerCase();
  const found = items.filter((item) => namesOf(item).some((name) => name.toLowerCase() === wanted));
  if (found.length > 1)
    throw usageError(`You have ${found.length} ${noun}s of the name "${text}".`, `Give one of ${found.map(idOf).join(', ')}.`);
  if (found.length === 1) return found[0];
  throw new CommandError(EXIT.notFound, code, `You have no ${noun} "${text}".`, `See yours with \`emailauth ${list}\`.`);
}
