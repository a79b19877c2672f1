import type { EventRow, Position, Source } from './store.ts';

/** Rows of both sources in the order of their times, with an id each. */
export type Merged = { rows: (EventRow & { key: string })[]; end: Position; more: boolean };

/**
 * Merges the rows of both sources by time. A source that was not read to its end limits the rows of the other one to those that are
 * not later, so that the rows of the next call follow. No row is left out or returned twice, whatever the times are.
 * @param direction `backward`: the sources were read from their newest row, which is the first of the result
 */
export function mergeSources(
  sources: { audit: Source; event: Source },
  after: Position,
  direction: 'forward' | 'backward' = 'forward',
): Merged {
  const order = (at: Date) => (direction === 'forward' ? at.getTime() : -at.getTime());
  const limit = Math.min(limitOf(sources.audit, order), limitOf(sources.event, order));
  const audit = takeUpTo(sources.audit, after.audit, limit, order);
  const event = takeUpTo(sources.event, after.event, limit, order);
  const keyed = (prefix: string, rows: EventRow[]) => rows.map((row) => ({ ...row, key: `${prefix}${row.id}` }));
  const rows = [...keyed('a', audit.rows), ...keyed('e', event.rows)];
  return {
    rows: rows.filter(({ visible }) => visible).sort((a, b) => order(a.at) - order(b.at)),
    end: { audit: audit.end, event: event.end },
    more: Number.isFinite(limit),
  };
}

/** Where a time is in the order of the result. */
type Order = (at: Date) => number;

/** Returns the last time of the rows of a source that has more, so that at least one source is taken as a whole; else Infinity. */
function limitOf({ rows, endAt }: Source, order: Order): number {
  if (endAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(order(endAt), ...rows.map(({ at }) => order(at)));
}

/** Returns the rows before the first one that comes after the limit, and up to which number they are. */
function takeUpTo({ rows, end }: Source, after: number, limit: number, order: Order): { rows: EventRow[]; end: number } {
  const firstLater = rows.findIndex(({ at }) => order(at) > limit);
  if (firstLater < 0) return { rows, end };
  return { rows: rows.slice(0, firstLater), end: firstLater === 0 ? after : rows[firstLater - 1].id };
}
