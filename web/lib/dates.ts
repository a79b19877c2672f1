const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** How long ago a moment was, in the words of a language: `3 days ago`. @param timestamp Unix milliseconds */
export function timeAgo(timestamp: number, language: string, now: number = Date.now()): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const seconds = Math.max(0, (now - timestamp) / 1000);
  for (const [unit, length] of UNITS) if (seconds >= length) return format.format(-Math.floor(seconds / length), unit);
  return format.format(0, 'second');
}

/** How long it is until a moment, in the words of a language: `in 3 days`. @param timestamp Unix milliseconds */
export function timeUntil(timestamp: number, language: string, now: number = Date.now()): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const seconds = Math.max(0, (timestamp - now) / 1000);
  for (const [unit, length] of UNITS) if (seconds >= length) return format.format(Math.floor(seconds / length), unit);
  return format.format(Math.floor(seconds), 'second');
}

/** Day, short month and year: `5 Mar 2026`; `Recently` for a date that is missing. */
export function dayOf(date: string | undefined): string {
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return 'Recently';
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' }).format(time);
}

/** A UTC day in long form: `Saturday, 21 November 2026`. @param date as YYYY-MM-DD */
export function longDay(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(Date.parse(`${date}T00:00:00Z`));
}

/** A moment to the second, in the reader's time zone: `21 Nov 2026, 14:03:59`. */
export function momentOf(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }).format(Date.parse(date));
}
