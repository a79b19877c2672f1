/** The characters that the screen is drawn with. */
export type Glyphs = {
  /** A cell of a bar that is filled from below by 0 to 8 eighths. */
  eighths: readonly string[];
  /** A cell of a lying bar: a whole one, and half of one. */
  whole: string;
  half: string;
  /** The line that the bars stand on, and the mark below the chosen one. */
  ground: string;
  under: string;
  /** Before the chosen day of the list, and the pane in use. */
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
  ground: '─',
  under: '▲',
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
  ground: '-',
  under: '^',
  marker: '>',
  ellipsis: '...',
  dot: '-',
  sideways: 'Left/Right',
  upAndDown: 'Up/Down',
  border: 'classic',
};

/** What the terminal of an environment can show, by its locale (POSIX: LC_ALL, then LC_CTYPE, then LANG). */
export function glyphsFor(env: Record<string, string | undefined>, platform: string = process.platform): Glyphs {
  if (platform === 'win32') return env.WT_SESSION || env.TERM_PROGRAM ? UNICODE : ASCII;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') ? UNICODE : ASCII;
}
