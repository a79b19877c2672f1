import type { SqlFunction } from './db/functions.ts';
import { REQUEST_EMAILS } from './signin/request-store.ts';

/** The functions of PostgreSQL that the statements of the service call. */
export const sqlFunctions: readonly SqlFunction[] = [REQUEST_EMAILS];
