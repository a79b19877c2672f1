import { Writable } from 'node:stream';
import { render } from 'ink';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { type Load, StatsScreen } from './stats-screen.tsx';
import { glyphsFor } from './words.ts';

// The alternate screen with a hidden cursor, and back.
const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l\x1b[2J';
const LEAVE_SCREEN = '\x1b[0m\x1b[?25h\x1b[?1049l';

/**
 * Shows the statistics on the whole terminal until the person quits, and restores the terminal.
 * @param options.host shown above the statistics
 * @param options.terminal is a terminal of a full screen; its signal closes the screen
 * @returns the exit code
 */
export async function showStats(options: {
  host: string;
  days: number;
  load: Load;
  env: Record<string, string | undefined>;
  terminal: Terminal;
}): Promise<number> {
  const { host, days, load, env, terminal } = options;
  const { signal } = terminal;
  const { stdin, stdout } = terminal.streams as unknown as { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream };
  const glyphs = glyphsFor(env);
  const frames = new FrameWriter(stdout);
  let exitCode: number = EXIT.ok;
  const quit = () => app.unmount();
  const screen = () => (
    <StatsScreen host={host} days={days} load={load} size={{ columns: stdout.columns, rows: stdout.rows }} glyphs={glyphs} onQuit={quit} />
  );

  const leaveScreen = enterScreen(stdout);
  // In raw mode Ctrl-C is a key; SIGINT only comes from other processes.
  const app = render(screen(), {
    stdin,
    stdout: frames as unknown as NodeJS.WriteStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  const resize = () => {
    frames.reset();
    app.rerender(screen());
  };
  const abort = () => {
    exitCode = EXIT.cancelled;
    app.unmount();
    leaveScreen();
  };
  signal.addEventListener('abort', abort);
  stdout.on('resize', resize);
  try {
    await app.waitUntilExit();
    return exitCode;
  } finally {
    stdout.off('resize', resize);
    signal.removeEventListener('abort', abort);
    leaveScreen();
  }
}

/**
 * Switches to the alternate screen, and ensures that the process leaves it however it ends, except by `kill -9`, and before an
 * uncaught error is printed.
 * @returns a function that leaves it; further calls do nothing
 */
function enterScreen(output: NodeJS.WriteStream): () => void {
  let isEntered = true;
  const leave = () => {
    if (!isEntered) return;
    isEntered = false;
    process.off('exit', leave);
    process.off('uncaughtExceptionMonitor', leave);
    output.write(LEAVE_SCREEN);
  };
  process.on('exit', leave);
  process.on('uncaughtExceptionMonitor', leave);
  output.write(ENTER_SCREEN);
  return leave;
}

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
