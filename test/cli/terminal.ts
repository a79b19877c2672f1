import { readSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { run } from '../../cli/command-line.ts';
import { program } from '../support/program.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, isReadAtStart } from './command.ts';

/** A terminal in which `emailauth` runs, and its screen. */
export type Terminal = Pick<Display, 'screen' | 'text' | 'bytes' | 'waitFor' | 'cellOf'> & {
  /** Types keys; see KEYS. */
  type(keys: string): void;
  resize(columns: number, rows: number): Promise<void>;
  /** Resolves with the exit code. */
  exited: Promise<number>;
  signal(name: NodeJS.Signals): void;
  /** Ends the program if it still runs. */
  close(): Promise<void>;
};

/** What a terminal shows. */
type Display = {
  /** Shows what a program wrote. */
  write(data: Buffer): void;
  /** Resolves once everything that was written is shown. */
  settled(): Promise<void>;
  /** Returns the lines of the screen without trailing spaces. */
  screen(): string[];
  /** Returns the screen and the scrollback. */
  text(): string;
  /** Returns all output, control sequences included. */
  bytes(): string;
  /** Waits until the screen or the scrollback contains a text. @throws Error with the screen */
  waitFor(text: string | RegExp, milliseconds?: number): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Returns the attributes of the first cell of a text on the screen, from a row on, or null. */
  cellOf(text: string, fromRow?: number): { inverse: boolean; bold: boolean; colour: number | 'default' } | null;
  close(): void;
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

type Options = { columns?: number; rows?: number; env?: Record<string, string>; cwd?: string };

/**
 * Runs `emailauth` with these arguments in a terminal, with the environment of a home directory: within this process, unless the
 * environment has what Node.js reads as it starts.
 */
export function openTerminal(home: Home, args: string[], options: Options = {}): Terminal {
  const { columns = 80, rows = 24, cwd = home.directory } = options;
  const env: typeof home.env = { ...home.env, ...options.env };
  if (isReadAtStart(env)) return spawnTerminal(home, args, options);
  const stop = new AbortController();
  const stdin = new Keyboard();
  const display = openDisplay({ columns, rows }, (response) => stdin.write(response));
  const [stdout, stderr] = [new Output(display, columns, rows), new Output(display, columns, rows)];
  // As cli/process.ts does.
  const interrupt = () => {
    if (!stop.signal.aborted) stderr.write('\n');
    stop.abort();
  };
  const exited = run(args, { env, cwd, stdin, stdout, stderr, signal: stop.signal }).then(async (exitCode) => {
    await display.settled();
    return exitCode;
  });
  return {
    ...display,
    type(keys) {
      if (stdin.isRaw) return void stdin.write(keys);
      // What a terminal does itself unless a program sets raw mode.
      if (keys.includes(KEYS.interrupt)) stderr.write('^C');
      else stderr.write(keys.replaceAll('\r', '\n'));
      if (keys.includes(KEYS.interrupt)) interrupt();
      else stdin.write(keys.replaceAll('\r', '\n'));
    },
    async resize(newColumns, newRows) {
      display.resize(newColumns, newRows);
      for (const stream of [stdout, stderr]) stream.resize(newColumns, newRows);
    },
    exited,
    signal: interrupt,
    async close() {
      interrupt();
      await exited;
      stdin.destroy();
      display.close();
    },
  };
}

/** The keys of a terminal, as process.stdin gives them. */
class Keyboard extends PassThrough {
  readonly isTTY = true;
  isRaw = false;

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** What a program writes to a terminal, as process.stdout takes it. */
class Output extends Writable {
  readonly isTTY = true;
  columns: number;
  rows: number;
  readonly #display: Display;

  constructor(display: Display, columns: number, rows: number) {
    super();
    this.#display = display;
    this.columns = columns;
    this.rows = rows;
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.emit('resize');
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    // A terminal adds the carriage returns (ONLCR), also in raw mode.
    this.#display.write(Buffer.from(chunk.toString().replaceAll('\n', '\r\n')));
    done();
  }
}

/** @param respond gets the responses to queries of the program, such as the position of the cursor */
function openDisplay({ columns, rows }: { columns: number; rows: number }, respond: (data: string) => void): Display {
  const display = new xterm.Terminal({ cols: columns, rows, scrollback: 2_000, allowProposedApi: true });
  const output: Buffer[] = [];
  display.onData(respond);
  const lines = (from: number, to: number) => {
    const buffer = display.buffer.active;
    return Array.from({ length: to - from }, (_, i) => buffer.getLine(from + i)?.translateToString(true) ?? '');
  };
  const screen = () => lines(display.buffer.active.baseY, display.buffer.active.baseY + display.rows);
  const text = () => lines(0, display.buffer.active.baseY + display.rows).join('\n');
  return {
    write(data) {
      output.push(data);
      display.write(data);
    },
    settled: () => new Promise((resolve) => display.write('', resolve)),
    screen,
    text,
    bytes: () => Buffer.concat(output).toString(),
    waitFor: (wanted, milliseconds = 45_000) =>
      waitUntil(`the terminal shows ${wanted}`, milliseconds, () => {
        const shown = text();
        return (typeof wanted === 'string' ? shown.includes(wanted) : wanted.test(shown)) || `it shows:\n${shown.trimEnd()}`;
      }),
    resize: (newColumns, newRows) => display.resize(newColumns, newRows),
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
    close: () => display.dispose(),
  };
}

/** A program in a pseudo-terminal. */
export type ProgramTerminal = Terminal & { pid: number };

/** Runs `emailauth` in a process and a pseudo-terminal of its own: for what these do themselves, such as signals and colors of Ink. */
export function spawnTerminal(home: Home, args: string[], options: Options = {}): ProgramTerminal {
  return openProgram(home, process.execPath, [...program, ...args], options);
}

/** Runs another program there, such as a shell. */
export function openProgram(
  home: Pick<Home, 'directory' | 'env'>,
  command: string,
  args: string[],
  { columns = 80, rows = 24, env = {}, cwd = home.directory }: Options = {},
): ProgramTerminal {
  const name = env.TERM ?? 'xterm-256color';
  const child = spawn(command, args, { name, cols: columns, rows, cwd, env: { ...home.env, ...env }, encoding: null }) as RawPty;
  const display = openDisplay({ columns, rows }, (response) => child.write(response));
  child.on('data', display.write);
  // After the hangup, libuv ends the stream at the first short read, and a terminal returns at most 4095 bytes to a read.
  child.on('end', () => readRest(child.fd).forEach(display.write));
  let ended = false;
  const exited = new Promise<number>((resolve) =>
    child.onExit(({ exitCode, signal }) => {
      ended = true;
      // Like the exit status of a shell after a signal.
      void display.settled().then(() => resolve(signal ? 128 + signal : exitCode));
    }),
  );
  return {
    ...display,
    type: (keys) => child.write(keys),
    async resize(newColumns, newRows) {
      child.resize(newColumns, newRows);
      display.resize(newColumns, newRows);
    },
    exited,
    pid: child.pid,
    signal: (name) => child.kill(name),
    async close() {
      if (!ended) child.kill('SIGKILL');
      await exited;
      display.close();
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
