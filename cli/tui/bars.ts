/** Where the bars stand: the column at which each begins, and the width that all have. */
export type Plot = { starts: number[]; bar: number; slot: number };

/** Narrower bars than this, with a column between them, cannot be told apart. */
export const MIN_SLOT = 2;
const WIDEST_BAR = 10;

/** Spreads bars over the whole width. */
export function plotOf(days: number, width: number): Plot {
  const slot = Math.floor(width / days);
  const bar = Math.max(1, Math.min(slot - Math.max(1, Math.round(slot / 4)), WIDEST_BAR));
  // The last bar ends where the width ends.
  const starts = Array.from({ length: days }, (_, i) => (days === 1 ? 0 : Math.floor((i * (width - bar)) / (days - 1))));
  return { starts, bar, slot };
}

const SCALES = [10, 12, 16, 20, 30, 40, 50, 60, 80];

/** The top of a scale: a round number no less than the greatest count, whose half is whole. */
export function scaleTop(greatest: number): number {
  if (greatest <= 8) return Math.max(2, Math.ceil(greatest / 2) * 2);
  for (let power = 1; ; power *= 10) {
    const step = SCALES.find((each) => greatest <= each * power);
    if (step) return step * power;
  }
}

/** How full the cells of a bar are, topmost first, in eighths from below. Whoever is not zero shows. */
export function cellsOf(count: number, top: number, height: number): number[] {
  const eighths = count === 0 ? 0 : Math.max(1, Math.round((count / top) * height * 8));
  return Array.from({ length: height }, (_, row) => Math.min(8, Math.max(0, eighths - (height - 1 - row) * 8)));
}

/** The length of a lying bar, in halves of a cell. Whoever is not zero shows. */
export function halvesOf(count: number, greatest: number, width: number): number {
  return count === 0 || width < 1 ? 0 : Math.max(1, Math.round((count / greatest) * width * 2));
}

/** A line of labels below the bars, and where in it the chosen one's is. */
export type LabelLine = { text: string; from: number; to: number };

/**
 * Writes labels below their bars: all, or every second or third back from the last where more would not fit; the chosen one
 * always, as wide as its bar, and none that would touch it.
 * @param texts one for each bar, all of the same length
 */
export function labelLine({ starts, bar, slot }: Plot, width: number, texts: readonly string[], chosen: number): LabelLine {
  const length = texts[0].length;
  const wide = Math.max(length, bar);
  const places = starts.map((start) => Math.max(0, Math.min(width - wide, start + Math.ceil((bar - wide) / 2))));
  const step = Math.ceil((length + 1) / slot);
  const line = Array.from({ length: width }, () => ' ');
  for (const [i, place] of places.entries()) {
    const isFree = Math.abs(place - places[chosen]) > length;
    if (i !== chosen && !((places.length - 1 - i) % step === 0 && isFree)) continue;
    line.splice(place + Math.floor((wide - length) / 2), length, ...texts[i]);
  }
  return { text: line.join(''), from: places[chosen], to: places[chosen] + wide };
}
