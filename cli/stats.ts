import { CommandError, EXIT, usageError } from './exit.ts';

/** A UTC day, as YYYY-MM-DD, and its sign-ins. */
export type Day = { date: string; count: number };

/** The days that were asked for, newest first, and what they come to; what `stats --json` answers. */
export type Figures = { days: Day[]; today: number; total: number; average: number };

/** As many as the service gives. */
export const MAX_DAYS = 30;

/** @param days newest first, as the service gives them */
export function statsOf(days: readonly Day[], wanted: number): Figures {
  const taken = days.slice(0, wanted);
  const total = taken.reduce((sum, { count }) => sum + count, 0);
  return { days: taken, today: taken[0]?.count ?? 0, total, average: Math.round(total / (taken.length || 1)) };
}

/** What `--days` says. @throws CommandError usage */
export function readDays(text: string | undefined): number {
  if (text === undefined) return MAX_DAYS;
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_DAYS) throw usageError(`--days takes a number from 1 to ${MAX_DAYS}.`);
  return days;
}

/**
 * The days of an answer, which go to a terminal: nothing else may be in them.
 * @throws CommandError bad_answer
 */
export function checkDays(answer: unknown): Day[] {
  const isDay = (each: unknown) => {
    const { date, count } = (each ?? {}) as Record<string, unknown>;
    return typeof date === 'string' && /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(Date.parse(date)) && isCount(count);
  };
  if (Array.isArray(answer) && answer.every(isDay)) return answer.map(({ date, count }) => ({ date, count }));
  const message = 'The service answered no figures that this program understands.';
  throw new CommandError(EXIT.failure, 'bad_answer', message, 'Check --host, and whether both are of the same version.');
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

/** A number with its thousands apart: `12,345`. */
export const inFull = (count: number): string => count.toLocaleString('en-US');
