import type { EventRow, Position, Source } from './store.ts';

/** Rows of both sources in the order of their times, with an id each. */
export type Merged = { rows: (EventRow & { key: string })[]; end: Position; more: boolean };

/**
 * Merges the rows of both sources by time. A source that was not read to its end limits the rows of the other one to those that are
 * not later, so that the rows of the next call follow. No row is left out or returned twice, whatever the times are.
 */
export function mergeSources(sources: { audit: Source; event: Source }, after: Position): Merged {
  const limits = [limitOf(sources.audit), limitOf(sources.event)];
  const limit = Math.min(...limits);
  const audit = takeUpTo(sources.audit, after.audit, limit);
  const event = takeUpTo(sources.event, after.event, limit);
  const keyed = (prefix: string, rows: EventRow[]) => rows.map((row) => ({ ...row, key: `${prefix}${row.id}` }));
  const rows = [...keyed('a', audit.rows), ...keyed('e', event.rows)];
  return {
    rows: rows.filter(({ visible }) => visible).sort((a, b) => a.at.getTime() - b.at.getTime()),
    end: { audit: audit.end, event: event.end },
    more: Number.isFinite(limit),
  };
}

/** Returns the latest time of the rows of a source that has more, so that at least one source is taken as a whole; else Infinity. */
function limitOf({ rows, endAt }: Source): number {
  if (endAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(endAt.getTime(), ...rows.map(({ at }) => at.getTime()));
}

/** Returns the rows before the first one that is later than the limit, and up to which number they are. */
function takeUpTo({ rows, end }: Source, after: number, limit: number): { rows: EventRow[]; end: number } {
  const firstLater = rows.findIndex(({ at }) => at.getTime() > limit);
  if (firstLater < 0) return { rows, end };
  return { rows: rows.slice(0, firstLater), end: firstLater === 0 ? after : rows[firstLater - 1].id };
}
