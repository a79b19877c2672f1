import { getSystemErrorMap } from 'node:util';
import { Fault } from '../../../contract/errors.ts';
import { StartError } from '../../platform/start-error.ts';

const EXITS = {
  damaged: 3,
  file: 3,
  database: 3,
  newer: 3,
  no_space: 1,
  interrupted: 1,
  refused: 1,
  running: 6,
  taken: 6,
  in_use: 6,
} as const;

/** A backup or restore failed: the message says why, the hint what to do next. */
export class BackupError extends Error {
  override name = 'BackupError';
  readonly exitCode: number;
  readonly code: keyof typeof EXITS;
  readonly hint: string;

  constructor(code: keyof typeof EXITS, message: string, hint = '', cause?: unknown) {
    super(message, { cause });
    this.exitCode = EXITS[code];
    this.code = code;
    this.hint = hint;
  }
}

/** Returns the error for what is not a valid backup. @param source its path, or `The backup` @param why a sentence about it */
export function damaged(source: string, why: string, cause?: unknown): BackupError {
  return new BackupError('damaged', `${source} cannot be restored: ${why}.`, 'Nothing was changed. Take another backup.', cause);
}

/**
 * Returns an error of the file system, of PostgreSQL or of the storage of icons as a BackupError with a readable message.
 * @param action what failed, such as `read /backups/monday.tar`
 * @returns the error itself when it has a readable message already, or is unexpected
 */
export function readableError(error: unknown, action: string): unknown {
  if (!(error instanceof Error) || error instanceof BackupError || error instanceof StartError) return error;
  const reason = reasonOf(error);
  return reason ? new BackupError(reason.code, `Cannot ${action}: ${reason.why}.`, reason.hint, error) : error;
}

function reasonOf(error: Error): { code: keyof typeof EXITS; why: string; hint?: string } | null {
  if (error instanceof Fault) {
    const why = 'the storage of the icons does not respond or refuses';
    return { code: 'interrupted', why, hint: 'Check the S3_ settings, or DATA_DIR/uploads.' };
  }
  const { code = '', errno = 0, message, severity } = error as NodeJS.ErrnoException & { severity?: string };
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return { code: 'no_space', why: 'the disk is full', hint: 'Free some space, or choose another disk.' };
  if (code === '55P03' || code === '40P01')
    return { code: 'in_use', why: 'another program has locked the tables', hint: 'Stop it, and try again.' };
  if (code === '42501') {
    const hint = 'Use the URL of the role that owns the tables.';
    return { code: 'refused', why: `the database role lacks a permission (${message})`, hint };
  }
  if (severity) return { code: 'refused', why: `PostgreSQL reports "${message}"` };
  if (code === 'ECONNRESET' || code === 'EPIPE' || /^Connection terminated|^Client has encountered/.test(message))
    return { code: 'interrupted', why: 'the connection to PostgreSQL was lost', hint: 'Try again when PostgreSQL is available.' };
  const [, why] = getSystemErrorMap().get(errno) ?? [];
  return why ? { code: 'file', why, hint: 'Choose another path, or run this as the user of the service.' } : null;
}
