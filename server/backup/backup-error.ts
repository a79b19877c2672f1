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

/** A backup or a restore cannot be done; the message says why, the hint what to do next. */
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

/** The file is not what a backup has to be. @param why the end of a sentence that begins with the file */
export function damaged(file: string, why: string, cause?: unknown): BackupError {
  return new BackupError('damaged', `${file} cannot be restored: ${why}.`, 'Nothing was changed. Take another backup.', cause);
}

const FILE_FAULTS: Record<string, string> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is no directory',
  ENAMETOOLONG: 'the name is too long',
};

/**
 * An error of the file system, of PostgreSQL or of the bucket as a sentence.
 * @param act what failed, such as `read /backups/monday.tar.gz`
 * @returns the error itself when it is one of ours, or a fault that nobody foresaw
 */
export function inWords(error: unknown, act: string): unknown {
  if (!(error instanceof Error) || error instanceof BackupError || error instanceof StartError) return error;
  if (error instanceof Fault) {
    return new BackupError('interrupted', `Cannot ${act}: the bucket of the icons does not do its part.`, 'Check the S3_ settings.', error);
  }
  const { code, path, severity } = error as NodeJS.ErrnoException & { severity?: string };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new BackupError('no_space', `Cannot ${act}: the disk is full.`, 'Make room, or choose another disk.', error);
  }
  if (code && FILE_FAULTS[code]) {
    const where = path && !path.includes('.partial-') && !act.endsWith(path) ? ` (${path})` : '';
    const hint = 'Give another path, or run it as the user of the service.';
    return new BackupError('file', `Cannot ${act}: ${FILE_FAULTS[code]}${where}.`, hint, error);
  }
  if (code === '55P03' || code === '40P01') {
    return new BackupError('in_use', `Cannot ${act}: another program holds the tables.`, 'End it, and try again.', error);
  }
  if (code === '42501') {
    return new BackupError(
      'refused',
      `Cannot ${act}: the database role may not (${error.message}).`,
      'Give the URL of the role that owns the tables.',
      error,
    );
  }
  if (severity) return new BackupError('refused', `Cannot ${act}: PostgreSQL says "${error.message}".`, '', error);
  if (code === 'ECONNRESET' || code === 'EPIPE' || /^Connection terminated|^Client has encountered/.test(error.message)) {
    return new BackupError('interrupted', `Cannot ${act}: PostgreSQL went away.`, 'Run it again once PostgreSQL is back.', error);
  }
  return error;
}
