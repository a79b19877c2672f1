import { CommandError, EXIT, usageError } from './exit.ts';

/** A UTC day, as YYYY-MM-DD, and its sign-ins. */
export type Day = { date: string; count: number };

/** The requested days, newest first, with their total and average; the result of `stats --json`. */
export type LoginStats = { days: Day[]; today: number; total: number; average: number };

/** The number of days that the service returns. */
const MAX_DAYS = 30;

/** Returns the statistics of the newest days. @param days newest first, as the service returns them */
export function summarize(days: readonly Day[], count: number): LoginStats {
  const newest = days.slice(0, count);
  const total = newest.reduce((sum, day) => sum + day.count, 0);
  return { days: newest, today: newest[0]?.count ?? 0, total, average: Math.round(total / (newest.length || 1)) };
}

/** Returns the value of `--days`. @throws CommandError usage */
export function parseDays(text: string | undefined): number {
  if (text === undefined) return MAX_DAYS;
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_DAYS) throw usageError(`--days takes a number from 1 to ${MAX_DAYS}.`);
  return days;
}

/**
 * Returns the days of a response, without anything else, since they are written to a terminal.
 * @throws CommandError bad_answer
 */
export function parseDailyLogins(response: unknown): Day[] {
  const isDay = (each: unknown) => {
    const { date, count } = (each ?? {}) as Record<string, unknown>;
    return typeof date === 'string' && /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(Date.parse(date)) && isCount(count);
  };
  if (Array.isArray(response) && response.every(isDay)) return response.map(({ date, count }) => ({ date, count }));
  const message = 'The service returned no statistics that this program understands.';
  const hint = 'Check --host, and that the service and this program have the same version.';
  throw new CommandError(EXIT.failure, 'bad_answer', message, hint);
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

/** Returns a number with separated thousands: `12,345`. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');
