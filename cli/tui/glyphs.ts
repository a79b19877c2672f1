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
