/** The position of the bars: the column at which each begins, and their common width. */
export type Plot = { starts: number[]; bar: number; slot: number };

/** The minimum width of a bar with its gap. */
export const MIN_SLOT = 2;
const MAX_BAR = 10;

/** Distributes bars over the whole width. */
export function plotOf(days: number, width: number): Plot {
  const slot = Math.floor(width / days);
  const bar = Math.max(1, Math.min(slot - Math.max(1, Math.round(slot / 4)), MAX_BAR));
  // The last bar ends at the right edge.
  const starts = Array.from({ length: days }, (_, i) => (days === 1 ? 0 : Math.floor((i * (width - bar)) / (days - 1))));
  return { starts, bar, slot };
}

const SCALES = [10, 12, 16, 20, 30, 40, 50, 60, 80];

/** Returns the top of a scale: a round number not below the maximum, whose half is an integer. */
export function scaleTop(max: number): number {
  if (max <= 8) return Math.max(2, Math.ceil(max / 2) * 2);
  for (let power = 1; ; power *= 10) {
    const step = SCALES.find((each) => max <= each * power);
    if (step) return step * power;
  }
}

/** Returns how far the cells of a bar are filled, topmost first, in eighths from below. A count above zero is always visible. */
export function cellsOf(count: number, top: number, height: number): number[] {
  const eighths = count === 0 ? 0 : Math.max(1, Math.round((count / top) * height * 8));
  return Array.from({ length: height }, (_, row) => Math.min(8, Math.max(0, eighths - (height - 1 - row) * 8)));
}

/** Returns the length of a horizontal bar, in halves of a cell. A count above zero is always visible. */
export function halvesOf(count: number, max: number, width: number): number {
  return count === 0 || width < 1 ? 0 : Math.max(1, Math.round((count / max) * width * 2));
}

/** A line of labels below the bars, and the position of the chosen one. */
export type LabelLine = { text: string; from: number; to: number };

/**
 * Returns labels below their bars: all of them, or every second or third counted from the last one where more do not fit. The
 * chosen one is always there, as labelWidth as its bar, and no other label touches it.
 * @param texts one for each bar, all of the same length
 */
export function labelLine({ starts, bar, slot }: Plot, width: number, texts: readonly string[], chosen: number): LabelLine {
  const length = texts[0].length;
  const labelWidth = Math.max(length, bar);
  const places = starts.map((start) => Math.max(0, Math.min(width - labelWidth, start + Math.ceil((bar - labelWidth) / 2))));
  const step = Math.ceil((length + 1) / slot);
  const line = Array.from({ length: width }, () => ' ');
  for (const [i, place] of places.entries()) {
    const isFree = Math.abs(place - places[chosen]) > length;
    if (i !== chosen && !((places.length - 1 - i) % step === 0 && isFree)) continue;
    line.splice(place + Math.floor((labelWidth - length) / 2), length, ...texts[i]);
  }
  return { text: line.join(''), from: places[chosen], to: places[chosen] + labelWidth };
}
