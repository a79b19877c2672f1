import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { waitUntil } from '../waiting.ts';
import { entry, type Home } from './command.ts';

/** A real pseudo-terminal that `emailauth` runs in, and the screen that a person would see. */
export type Terminal = {
  /** The lines of the screen, without blanks at their ends. */
  screen(): string[];
  /** Everything that was shown, scrolled away or not. */
  text(): string;
  /** Every byte that was written, control sequences included. */
  bytes(): string;
  /** Types keys; see KEYS. */
  type(keys: string): void;
  /** Waits until the screen or what scrolled away has this. @throws Error that shows the screen */
  waitFor(text: string | RegExp, milliseconds?: number): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The attributes of the cell that holds the first letter of a text on the screen, from a row on; null: it is not there. */
  cellOf(text: string, fromRow?: number): { inverse: boolean; bold: boolean; colour: number | 'default' } | null;
  /** The exit code, once it has ended. */
  exited: Promise<number>;
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** Ends what still runs. */
  close(): Promise<void>;
};

export const KEYS = {
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  enter: '\r',
  escape: '\x1b',
  tab: '\t',
  backspace: '\x7f',
  interrupt: '\x03',
} as const;

/** Runs `emailauth` with these arguments in a terminal of somebody's home. */
export function openTerminal(
  home: Home,
  args: string[],
  options: { columns?: number; rows?: number; env?: Record<string, string>; cwd?: string } = {},
): Terminal {
  return openProgram(home, process.execPath, [entry, ...args], options);
}

/** Runs any program there, a shell for instance. */
export function openProgram(
  home: Home,
  program: string,
  args: string[],
  {
    columns = 80,
    rows = 24,
    env = {},
    cwd = home.directory,
  }: { columns?: number; rows?: number; env?: Record<string, string>; cwd?: string } = {},
): Terminal {
  const display = new xterm.Terminal({ cols: columns, rows, scrollback: 2_000, allowProposedApi: true });
  const child = spawn(program, args, { name: env.TERM ?? 'xterm-256color', cols: columns, rows, cwd, env: { ...home.env, ...env } });
  let bytes = '';
  child.onData((data) => {
    bytes += data;
    display.write(data);
  });
  // What a program asks its terminal, the cursor's place for instance, is answered.
  display.onData((data) => child.write(data));
  let ended = false;
  const exited = new Promise<number>((resolve) =>
    child.onExit(({ exitCode, signal }) => {
      ended = true;
      // A shell tells the death by a signal in the same way.
      display.write('', () => resolve(signal ? 128 + signal : exitCode));
    }),
  );
  const lines = (from: number, to: number) => {
    const buffer = display.buffer.active;
    return Array.from({ length: to - from }, (_, i) => buffer.getLine(from + i)?.translateToString(true) ?? '');
  };
  const screen = () => lines(display.buffer.active.baseY, display.buffer.active.baseY + display.rows);
  const text = () => lines(0, display.buffer.active.baseY + display.rows).join('\n');
  return {
    screen,
    text,
    bytes: () => bytes,
    type: (keys) => child.write(keys),
    waitFor: (wanted, milliseconds = 45_000) =>
      waitUntil(`the terminal shows ${wanted}`, milliseconds, () => {
        const shown = text();
        return (typeof wanted === 'string' ? shown.includes(wanted) : wanted.test(shown)) || `it shows:\n${shown.trimEnd()}`;
      }),
    async resize(newColumns, newRows) {
      child.resize(newColumns, newRows);
      display.resize(newColumns, newRows);
    },
    cellOf(wanted, fromRow = 0) {
      for (const [row, line] of screen().entries()) {
        const column = row < fromRow ? -1 : line.indexOf(wanted);
        const cell = column < 0 ? undefined : display.buffer.active.getLine(display.buffer.active.baseY + row)?.getCell(column);
        if (cell) {
          return { inverse: cell.isInverse() !== 0, bold: cell.isBold() !== 0, colour: cell.isFgDefault() ? 'default' : cell.getFgColor() };
        }
      }
      return null;
    },
    exited,
    pid: child.pid,
    signal: (name) => child.kill(name),
    async close() {
      if (!ended) child.kill('SIGKILL');
      await exited;
      display.dispose();
    },
  };
}
