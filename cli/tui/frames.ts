import { Writable } from 'node:stream';

/** Terminals that know it show everything in between at once (mode 2026); others ignore it. */
const HOLD = '\x1b[?2026h';
const SHOW = '\x1b[?2026l';

/**
 * What to write so that a terminal shows `next` instead of `previous`: only the lines that differ, each at its place, in one go.
 * It never scrolls, so a frame may fill the screen to its last cell.
 * @param previous null: whatever is there is cleared first
 */
export function changes(previous: readonly string[] | null, next: readonly string[], rows: number): string {
  const lines = next.slice(0, rows);
  const many = Math.max(lines.length, previous?.length ?? 0);
  const written: string[] = previous ? [] : ['\x1b[2J'];
  for (let i = 0; i < Math.min(many, rows); i++) {
    if (!previous || lines[i] !== previous[i]) written.push(`\x1b[${i + 1};1H\x1b[2K${lines[i] ?? ''}`);
  }
  return written.length > 0 ? HOLD + written.join('') + SHOW : '';
}

type Output = { columns: number; rows: number; write(text: string): boolean };

/**
 * The stream that Ink writes to in its debug mode, where each write is a whole frame and nothing else is written. Ink's own
 * drawing erases lines upwards and, when a frame fills the screen, clears the terminal with all that was scrolled away.
 */
export class Frames extends Writable {
  readonly #output: Output;
  #previous: string[] | null = null;

  constructor(output: Output) {
    super({ decodeStrings: false });
    this.#output = output;
  }

  /** Ink lays out for this width. */
  get columns(): number {
    return this.#output.columns;
  }

  /** The terminal has changed its size: nothing on it is where it was. */
  startAnew(): void {
    this.#previous = null;
  }

  override _write(frame: string, _: string, done: () => void): void {
    // Ink ends with an empty write, to hear when everything is written.
    if (frame !== '') {
      const lines = frame.split('\n');
      const written = changes(this.#previous, lines, this.#output.rows);
      if (written) this.#output.write(written);
      this.#previous = lines;
    }
    done();
  }
}
