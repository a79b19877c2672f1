const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Returns how long ago a time was, in a language: `3 days ago`. @param timestamp Unix milliseconds */
export const timeAgo = (timestamp: number, language: string, now: number = Date.now()) =>
  relativeTime(Math.min(0, timestamp - now) / 1000, language);

/** Returns how long it is until a time, in a language: `in 3 days`. @param timestamp Unix milliseconds */
export const timeUntil = (timestamp: number, language: string, now: number = Date.now()) =>
  relativeTime(Math.max(0, timestamp - now) / 1000, language);

function relativeTime(seconds: number, language: string): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const found = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  // The last minute is now.
  return found ? format.format(Math.trunc(seconds / found[1]), found[0]) : format.format(Math.max(0, Math.floor(seconds)), 'second');
}

/** Returns day, short month and year, in a language: `5 Mar 2026`; `Recently` when the date is missing. */
export function dayOf(date: string | undefined, language = 'en'): string {
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return 'Recently';
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { day: 'numeric', month: 'short', year: 'numeric' }).format(time);
}

/** Returns a UTC day in long form: `Saturday, 21 November 2026`. @param date as YYYY-MM-DD */
export function longDay(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(Date.parse(`${date}T00:00:00Z`));
}

/** Returns a time to the second, in the time zone of the browser: `21 Nov 2026, 14:03:59`. */
export function dateTimeOf(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }).format(Date.parse(date));
}

/** Returns a wait in a language: `in 2 minutes`. It is in seconds up to a minute and a half, then in minutes. */
export function formatWait(seconds: number, language: string): string {
  const format = new Intl.RelativeTimeFormat(language);
  return seconds < 90 ? format.format(Math.max(1, Math.ceil(seconds)), 'second') : format.format(Math.ceil(seconds / 60), 'minute');
}

/** Returns a duration: `14 s`, `2 min 5 s`. */
export function durationOf(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes === 0) return `${rest} s`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
