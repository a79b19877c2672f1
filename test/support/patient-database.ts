import { type Database, openDatabase } from '../../server/platform/db/database.ts';

const WAIT_MS = 60_000;

/** Opens the pools of a database as the service does, but waits for it as long as a busy machine takes: no caller needs a 503 in time. */
export const openPatientDatabase = (url: string): Database => openDatabase(url, { waitMs: WAIT_MS });
