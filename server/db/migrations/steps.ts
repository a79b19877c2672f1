/**
 * One part of a migration. Steps run in their order, and each commits together with its record, so that a migration that was
 * interrupted goes on at the step where it ended.
 */
export type Step = SqlStep | IndexStep | BackfillStep;

/** DDL that is quick once it has its locks, in one transaction. At most one table that sign-ins use: see docs/architecture.md. */
export type SqlStep = { title: string; sql: string };

/** Builds an index while the table is read and written. An index of the same name is replaced once the new one is complete. */
export type IndexStep = { index: string; table: string /** Columns and condition: `(email) where domain is null`. */; definition: string };

/**
 * Updates the rows of a large table in batches, each in a transaction of its own, in the order of `key`, a unique column. Rows
 * for which `where` is false are passed over; it must be false for a row that was updated, since a resumed backfill reads all
 * rows again.
 */
export type BackfillStep = { title: string; table: string; key: string; set: string; where: string };

/** Returns what a step does, for people. */
export function titleOf(step: Step): string {
  return 'index' in step ? `build index ${step.index} on ${step.table}` : step.title;
}

/** Returns the step as SQL that runs in the transaction of a caller, on tables that nobody else uses. */
export function plainSql(step: Step): string {
  if ('index' in step) return `drop index if exists ${step.index}; create index ${step.index} on ${step.table} ${step.definition}`;
  return 'sql' in step ? step.sql : `update ${step.table} set ${step.set} where ${step.where}`;
}
