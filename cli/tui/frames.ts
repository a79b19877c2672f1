import { Writable } from 'node:stream';

/** Synchronized output (mode 2026): a terminal shows everything in between at once, or ignores it. */
const BEGIN_UPDATE = '\x1b[?2026h';
const END_UPDATE = '\x1b[?2026l';

/**
 * Returns what changes a terminal from `previous` to `next`: only the lines that differ, each at its position. It never scrolls, so
 * that a frame may fill the whole screen.
 * @param previous null: the screen is cleared first
 */
export function updateSequence(previous: readonly string[] | null, next: readonly string[], rows: number): string {
  const lines = next.slice(0, rows);
  const lineCount = Math.max(lines.length, previous?.length ?? 0);
  const written: string[] = previous ? [] : ['\x1b[2J'];
  for (let i = 0; i < Math.min(lineCount, rows); i++) {
    if (!previous || lines[i] !== previous[i]) written.push(`\x1b[${i + 1};1H\x1b[2K${lines[i] ?? ''}`);
  }
  return written.length > 0 ? BEGIN_UPDATE + written.join('') + END_UPDATE : '';
}

type Output = { columns: number; rows: number; write(text: string): boolean };

/**
 * The stream that Ink writes to in its debug mode, in which each write is a whole frame. Ink's own renderer clears the terminal and
 * its scrollback when a frame fills the screen: see docs/decisions/0011.
 */
export class FrameWriter extends Writable {
  readonly #output: Output;
  #previous: string[] | null = null;

  constructor(output: Output) {
    super({ decodeStrings: false });
    this.#output = output;
  }

  /** Read by Ink for the layout. */
  get columns(): number {
    return this.#output.columns;
  }

  /** Redraws everything with the next frame, after the terminal was resized. */
  reset(): void {
    this.#previous = null;
  }

  override _write(frame: string, _: string, done: () => void): void {
    // Ink ends with an empty write, whose callback it awaits.
    if (frame !== '') {
      const lines = frame.split('\n');
      const written = updateSequence(this.#previous, lines, this.#output.rows);
      if (written) this.#output.write(written);
      this.#previous = lines;
    }
    done();
  }
}
