import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { errors } from '../../contract/errors.ts';
import type { Config } from './config.ts';

export type Log = Logger;

/** Property names whose values are secrets. */
const SECRETS = [
  'authorization',
  'cookie',
  'codeVerifier',
  'code_verifier',
  'link',
  'password',
  'secret',
  'secretKey',
  'previousSecretKey',
  'token',
];
const REDACTED = [...SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), 'code', 'body.code', 'query.code', 'query.t'];

// Entries are buffered up to this size or time, so that a busy service does not write line by line.
const BUFFER_BYTES = 4096;
const FLUSH_MS = 500;

/**
 * Returns the service's log: JSON lines on stderr, written without blocking; in local mode on a terminal, readable text. Secrets are
 * redacted, and so are the parts of database errors that can quote rows.
 * @param destination instead of stderr
 */
export function createLog(config: Pick<Config, 'logLevel' | 'mode'>, destination?: DestinationStream): Log {
  const isReadable = config.mode === 'local' && process.stderr.isTTY;
  const options = {
    level: config.logLevel,
    base: { pid: process.pid },
    serializers: { err: withoutRows },
    redact: {
      paths: REDACTED,
      censor: (value: unknown, path: string[]) => (path.at(-1) === 'code' && isDiagnostic(value) ? value : '[secret]'),
    },
  };
  if (destination) return pino(options, destination);
  if (isReadable) return pino(options, { write: (line) => void process.stderr.write(readableLine(line)) });
  return pino(options, pino.destination({ dest: 2, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS }) as DestinationStream);
}

/** Writes what is still buffered. Call it before the process ends. */
export function flushLog(log: Log): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FLUSH_MS);
    log.flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// A class of PostgreSQL and three more characters with a digit among them. Five letters can be a secret.
const SQLSTATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)(?=[A-Z]*\d)[0-9A-Z]{3}$/;

/**
 * Returns whether a `code` is an SQLSTATE, an error code of Node.js, the exit code of a process or an error code of the API, and not
 * a secret: an emailed code has a form of its own (contract/entered.ts), and an authorization code is long and of mixed case.
 */
function isDiagnostic(code: unknown): boolean {
  if (typeof code === 'number') return Number.isInteger(code) && code >= 0 && code <= 255;
  if (typeof code !== 'string') return code === null;
  return SQLSTATE.test(code) || /^(?:E[A-Z]{2,19}|EAI_[A-Z]{2,19}|ERR_[A-Z0-9_]{2,60})$/.test(code) || Object.hasOwn(errors, code);
}

/** Returns the code of an error, or of the database error in an error of Sequelize; undefined when there is none that may be logged. */
export function codeOf(error: unknown): string | number | undefined {
  const { code, original } = (error ?? {}) as { code?: unknown; original?: { code?: unknown } };
  const found = code ?? original?.code;
  return isDiagnostic(found) ? ((found as string | number | null) ?? undefined) : undefined;
}

// PostgreSQL's `detail` and `where` quote rows and parameters.
function withoutRows(error: Error): object {
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack, code: codeOf(error) };
}

const LEVELS: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };

function readableLine(line: string): string {
  const { level, time, msg, err, pid: _, ...rest } = JSON.parse(line);
  const clock = new Date(time).toTimeString().slice(0, 8);
  const details = Object.entries(rest).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${clock} ${LEVELS[level] ?? level} ${msg ?? ''}${details.join('')}${err ? `${err.code ? ` code=${err.code}` : ''}\n${err.stack ?? err.message}` : ''}\n`;
}
