import { Fault } from '../../contract/errors.ts';
import { StartError } from '../start-error.ts';

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

const FILE_FAULTS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENAMETOOLONG: 'the name is too long',
};

/**
 * Returns an error of the file system, of PostgreSQL or of the storage of icons as a BackupError with a readable message.
 * @param action what failed, such as `read /backups/monday.tar`
 * @returns the error itself when it has a readable message already, or is unexpected
 */
export function readableError(error: unknown, action: string): unknown {
  if (!(error instanceof Error) || error instanceof BackupError || error instanceof StartError) return error;
  if (error instanceof Fault) {
    return new BackupError(
      'interrupted',
      `Cannot ${action}: the storage of the icons does not respond or refuses.`,
      'Check the S3_ settings, or DATA_DIR/uploads.',
      error,
    );
  }
  const { code, path, severity } = error as NodeJS.ErrnoException & { severity?: string };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new BackupError('no_space', `Cannot ${action}: the disk is full.`, 'Free some space, or choose another disk.', error);
  }
  if (code && FILE_FAULTS[code]) {
    const where = path && !path.includes('.partial-') && !action.endsWith(path) ? ` (${path})` : '';
    const hint = 'Choose another path, or run this as the user of the service.';
    return new BackupError('file', `Cannot ${action}: ${FILE_FAULTS[code]}${where}.`, hint, error);
  }
  if (code === '55P03' || code === '40P01') {
    return new BackupError('in_use', `Cannot ${action}: another program has locked the tables.`, 'Stop it, and try again.', error);
  }
  if (code === '42501') {
    return new BackupError(
      'refused',
      `Cannot ${action}: the database role lacks a permission (${error.message}).`,
      'Use the URL of the role that owns the tables.',
      error,
    );
  }
  if (severity) return new BackupError('refused', `Cannot ${action}: PostgreSQL reports "${error.message}".`, '', error);
  if (code === 'ECONNRESET' || code === 'EPIPE' || /^Connection terminated|^Client has encountered/.test(error.message)) {
    return new BackupError(
      'interrupted',
      `Cannot ${action}: the connection to PostgreSQL was lost.`,
      'Try again when PostgreSQL is available.',
      error,
    );
  }
  return error;
}
