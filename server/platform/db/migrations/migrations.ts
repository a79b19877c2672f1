import type { Step } from '../migration-steps.ts';
import { sql as baseline } from './0001-baseline.ts';

/** `sql`: the whole migration is one step. */
export type Migration = { name: string } & ({ sql: string } | { steps: readonly Step[] });

/**
 * All migrations in order. The list is append-only: a released migration is never changed. How to write one is in docs/extending.md.
 */
export const migrations: readonly Migration[] = [{ name: '0001-baseline', sql: baseline }];
