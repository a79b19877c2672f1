import { formatCount } from '../login-stats.ts';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns the parts of a day's name. @param date YYYY-MM-DD */
export function dayParts(date: string): { weekday: string; day: string; month: string; year: string } {
  const time = new Date(`${date}T00:00:00Z`);
  return {
    weekday: WEEKDAYS[time.getUTCDay()],
    day: String(time.getUTCDate()).padStart(2, '0'),
    month: MONTHS[time.getUTCMonth()],
    year: String(time.getUTCFullYear()),
  };
}

/** Returns `Sat 21 Nov`. */
export function shortDay(date: string): string {
  const { weekday, day, month } = dayParts(date);
  return `${weekday} ${day} ${month}`;
}

/** Returns `Sat 21 Nov 2026`. */
export const fullDay = (date: string): string => `${shortDay(date)} ${dayParts(date).year}`;

/** Returns a number in about five characters: `980`, `1.2k`, `46k`, `3.1M`. */
export function formatShort(count: number): string {
  for (const [size, unit] of [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (count < size) continue;
    const value = count / size;
    // Rounded down: 999,999 is not 1000k.
    return value < 10 ? `${Math.floor(value * 10) / 10}${unit}` : `${Math.floor(value)}${unit}`;
  }
  return formatCount(count);
}

/** Returns the local time of day: `14:03:59`. */
export function clockTime(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Returns the first of the texts that fits, or the last one, truncated between words. */
export function firstFitting(texts: readonly string[], width: number, ellipsis = '…'): string {
  return texts.find((text) => text.length <= width) ?? truncate(texts.at(-1) ?? '', width, ellipsis);
}

/** Returns as many whole words as fit. */
export function truncate(text: string, width: number, ellipsis = '…'): string {
  if (text.length <= width) return text;
  const room = text.slice(0, Math.max(0, width - ellipsis.length) + 1);
  const end = room.lastIndexOf(' ');
  return `${room.slice(0, end > 0 ? end : -1)}${ellipsis}`.slice(0, width);
}

/** Returns untrusted text on one line, without characters that a terminal interprets. */
export function sanitize(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed.
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ').trim();
}

/** The characters that the screen is drawn with. */
export type Glyphs = {
  /** A cell of a vertical bar, filled from below by 0 to 8 eighths. */
  eighths: readonly string[];
  /** A cell of a horizontal bar: full, and half. */
  whole: string;
  half: string;
  /** The axis below the bars, and the mark below the chosen one. */
  axis: string;
  mark: string;
  /** Before the chosen day of the list, and the pane with the focus. */
  marker: string;
  ellipsis: string;
  dot: string;
  sideways: string;
  upAndDown: string;
  border: 'round' | 'classic';
};

const UNICODE: Glyphs = {
  eighths: [...' ▁▂▃▄▅▆▇█'],
  whole: '━',
  half: '╸',
  axis: '─',
  mark: '▲',
  marker: '▸',
  ellipsis: '…',
  dot: '·',
  sideways: '←/→',
  upAndDown: '↑/↓',
  border: 'round',
};

const ASCII: Glyphs = {
  eighths: [...' ....####'],
  whole: '=',
  half: '-',
  axis: '-',
  mark: '^',
  marker: '>',
  ellipsis: '...',
  dot: '-',
  sideways: 'Left/Right',
  upAndDown: 'Up/Down',
  border: 'classic',
};

/** Returns the characters that a terminal can show, by its locale (POSIX: LC_ALL, then LC_CTYPE, then LANG). */
export function glyphsFor(env: Record<string, string | undefined>, platform: string = process.platform): Glyphs {
  if (platform === 'win32') return env.WT_SESSION || env.TERM_PROGRAM ? UNICODE : ASCII;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') ? UNICODE : ASCII;
}
