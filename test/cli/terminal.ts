import { readSync } from 'node:fs';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { entry } from '../support/program.ts';
import { waitUntil } from '../support/waiting.ts';
import type { Home } from './command.ts';

/** A pseudo-terminal in which `emailauth` runs, and its screen. */
export type Terminal = {
  /** Returns the lines of the screen without trailing spaces. */
  screen(): string[];
  /** Returns the screen and the scrollback. */
  text(): string;
  /** Returns all output, control sequences included. */
  bytes(): string;
  /** Types keys; see KEYS. */
  type(keys: string): void;
  /** Waits until the screen or the scrollback contains a text. @throws Error with the screen */
  waitFor(text: string | RegExp, milliseconds?: number): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Returns the attributes of the first cell of a text on the screen, from a row on, or null. */
  cellOf(text: string, fromRow?: number): { inverse: boolean; bold: boolean; colour: number | 'default' } | null;
  /** Resolves with the exit code. */
  exited: Promise<number>;
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** Kills the program if it still runs. */
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

/** Runs `emailauth` with these arguments in a terminal, with the environment of a home directory. */
export function openTerminal(
  home: Home,
  args: string[],
  options: { columns?: number; rows?: number; env?: Record<string, string>; cwd?: string } = {},
): Terminal {
  return openProgram(home, process.execPath, [entry, ...args], options);
}

/** Runs another program there, such as a shell. */
export function openProgram(
  home: Pick<Home, 'directory' | 'env'>,
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
  const name = env.TERM ?? 'xterm-256color';
  const child = spawn(program, args, { name, cols: columns, rows, cwd, env: { ...home.env, ...env }, encoding: null }) as RawPty;
  const output: Buffer[] = [];
  const show = (data: Buffer) => {
    output.push(data);
    display.write(data);
  };
  child.on('data', show);
  // After the hangup, libuv ends the stream at the first short read, and a terminal returns at most 4095 bytes to a read.
  child.on('end', () => readRest(child.fd).forEach(show));
  // Responds to queries of the program, such as the position of the cursor.
  display.onData((data) => child.write(data));
  let ended = false;
  const exited = new Promise<number>((resolve) =>
    child.onExit(({ exitCode, signal }) => {
      ended = true;
      // Like the exit status of a shell after a signal.
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
    bytes: () => Buffer.concat(output).toString(),
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

/** What node-pty has beyond its types: the events of the stream of the terminal, and its file descriptor. */
type RawPty = IPty & {
  readonly fd: number;
  on(event: 'data', listener: (data: Buffer) => void): void;
  on(event: 'end', listener: () => void): void;
};

/** Returns what a terminal still holds after its program has ended. */
function readRest(fd: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(4096);
    let length = 0;
    try {
      length = readSync(fd, chunk);
    } catch (error) {
      // Linux reports the end as EIO, macOS by no bytes.
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
    }
    if (length === 0) return chunks;
    chunks.push(chunk.subarray(0, length));
  }
}
