import { createInterface, type Interface, type Key } from 'node:readline';
import { wrapAnsi } from 'fast-wrap-ansi';
import { enteredFault, readEntered } from '../contract/entered.ts';
import { cancelled } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** What the person entered while waiting for the email. */
type FieldInput = { kind: 'code'; value: string } | { kind: 'new_email' };

type CodeFieldOptions = {
  /** Returns what is waited for; called for each frame. */
  status(): string;
  /** Explains the keys. */
  keys: string;
  /** Whether an empty Enter requests a new email; `r` always does, unless other keys arrive with it. */
  enterRequestsEmail(): boolean;
  terminal: Terminal;
};

const LABEL = 'Code: ';
const MAX_PASTED_LENGTH = 4096;
const FRAME_MS = 1000;
const SPINNER = ['|', '/', '-', '\\'];
const BRACKETED_PASTE = { on: '\x1b[?2004h', off: '\x1b[?2004l' };
/** How long a key that may begin a longer sequence, such as Esc, waits for the rest. */
const ESCAPE_TIMEOUT_MS = 50;
const MIN_COLUMNS = 20;

/** A field for the code of the email on stderr, below a status line that is updated while it waits. */
export class CodeField {
  /** Rejects at Ctrl-C, Ctrl-D and Esc. */
  readonly cancelled: Promise<never>;
  readonly #options: CodeFieldOptions;
  readonly #keys: Interface;
  readonly #timer: NodeJS.Timeout;
  #resolveNext: ((input: FieldInput) => void) | null = null;
  #typed = '';
  #message = '';
  #tick = 0;
  /** What is being pasted; null: nothing. */
  #pasted: string | null = null;
  /** The keys that have arrived at once: more than one where a terminal does not mark what is pasted. */
  #keysAtOnce = 0;
  #isClosed = false;
  /** The lines on the screen. The field is the last one: terminals differ in how they treat lines below the cursor when resized. */
  #drawn: string[] = [];

  constructor(options: CodeFieldOptions) {
    this.#options = options;
    // Used for raw mode, Esc and Ctrl-Z; the line that readline collects is ignored.
    this.#keys = createInterface({ input: options.terminal.streams.stdin, terminal: true, escapeCodeTimeout: ESCAPE_TIMEOUT_MS });
    this.cancelled = new Promise<never>((_, reject) => {
      this.#keys.once('close', () => reject(cancelled()));
    });
    this.cancelled.catch(() => {});
    this.#timer = setInterval(() => {
      this.#tick++;
      this.#draw();
    }, FRAME_MS);
    const { streams, signal } = options.terminal;
    streams.stdin.on('keypress', this.#press);
    streams.stderr.on('resize', this.#redraw);
    signal.addEventListener('abort', this.close);
    this.#write(BRACKETED_PASTE.on);
    this.#draw();
  }

  /** Resolves with the next input. */
  next(): Promise<FieldInput> {
    return new Promise((resolve) => {
      this.#resolveNext = resolve;
    });
  }

  /** Shows a message above the field, in place of the previous one. */
  showMessage(message: string): void {
    this.#message = message;
    this.#draw();
  }

  /** Prints a line above everything, which stays. */
  note(text: string): void {
    this.#draw(text);
  }

  /** Removes the field from the screen and restores the terminal. */
  readonly close = (): void => {
    if (this.#isClosed) return;
    const { streams, signal } = this.#options.terminal;
    this.#write(`${this.#toTop()}\x1b[J${BRACKETED_PASTE.off}`);
    this.#isClosed = true;
    clearInterval(this.#timer);
    streams.stdin.off('keypress', this.#press);
    streams.stderr.off('resize', this.#redraw);
    signal.removeEventListener('abort', this.close);
    this.#keys.close();
  };

  readonly #press = (text: string | undefined, { name, ctrl }: Key): void => {
    if (this.#isClosed) return;
    this.#keysAtOnce += 1;
    if (this.#keysAtOnce === 1) setImmediate(this.#endKeys, name);
    if (name === 'paste-start') this.#pasted = '';
    else if (name === 'paste-end') this.#addPasted();
    else if (this.#pasted !== null) this.#pasted = (this.#pasted + (text ?? '')).slice(0, MAX_PASTED_LENGTH);
    else if (text !== undefined && /^\S$/u.test(text) && readEntered(text).typed !== '') this.#add(text);
    else if (name === 'escape') this.#keys.close();
    else if (name === 'backspace') this.#typed = this.#typed.slice(0, -1);
    else if (ctrl && name === 'u') this.#typed = '';
    else if (name === 'return' || name === 'enter') this.#enter();
    this.#draw();
  };

  /** Requests a new email for an `r` that was typed and not pasted. @param name of the first key that has arrived */
  readonly #endKeys = (name: string | undefined): void => {
    if (name === 'r' && this.#keysAtOnce === 1 && this.#pasted === null && !this.#isClosed) this.#submit({ kind: 'new_email' });
    this.#keysAtOnce = 0;
    this.#draw();
  };

  /** Adds what was pasted: the code in it, such as that of a whole line of the email, or else a part of one. */
  #addPasted(): void {
    const read = readEntered(this.#pasted ?? '');
    this.#pasted = null;
    if (read.value !== null) this.#typed = read.value;
    else if (read.missing >= 0) this.#add(read.typed);
    else this.#message = enteredFault(read);
  }

  #add(text: string): void {
    this.#typed = readEntered(this.#typed + text).typed;
  }

  #enter(): void {
    const read = readEntered(this.#typed);
    if (read.value !== null) this.#submit({ kind: 'code', value: read.value });
    else if (this.#typed === '' && this.#options.enterRequestsEmail()) this.#submit({ kind: 'new_email' });
    else this.#message = enteredFault(read);
  }

  /** Input while the previous one is being handled is dropped: it would only be a key that is held down. */
  #submit(input: FieldInput): void {
    if (!this.#resolveNext) return;
    this.#typed = '';
    this.#resolveNext(input);
    this.#resolveNext = null;
  }

  #draw(above = ''): void {
    if (this.#isClosed) return;
    const { dimmed, lines } = this.#frame();
    if (!above && lines.join('\n') === this.#drawn.join('\n')) return;
    const styled = lines.map((line, i) => `${i < dimmed ? this.#options.terminal.style('dim', line) : line}\x1b[K`);
    // One write that overwrites each line, so that nothing flickers.
    this.#write(`${this.#toTop()}${above && `${above}\x1b[K\r\n`}${styled.join('\r\n')}\x1b[J`);
    this.#drawn = lines;
  }

  /** Returns the lines of the screen; the first `dimmed` of them are status and keys. */
  #frame(): { dimmed: number; lines: string[] } {
    const width = this.#columns() - 1;
    const status = `${SPINNER[this.#tick % SPINNER.length]} ${this.#options.status()}`;
    const top = [...wrapHard(status, width), ...wrapHard(this.#options.keys, width)];
    const shown = this.#typed.length > 3 ? `${this.#typed.slice(0, 3)} ${this.#typed.slice(3)}` : this.#typed;
    const message = this.#message ? wrapHard(this.#message, width) : [];
    return { dimmed: top.length, lines: [...top, ...message, `${LABEL}${shown}`] };
  }

  /** Returns what moves the cursor to the first drawn line; a narrower window may have wrapped the lines. */
  #toTop(): string {
    const rows = this.#drawn.slice(0, -1).reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / this.#columns())), 0);
    return `${rows > 0 ? `\x1b[${rows}A` : ''}\r`;
  }

  /** Draws everything again after the window was resized, so that lines that were wrapped are removed. */
  readonly #redraw = (): void => {
    this.#write(`${this.#toTop()}\x1b[J`);
    this.#drawn = [];
    this.#draw();
  };

  #write(text: string): void {
    this.#options.terminal.streams.stderr.write(text);
  }

  #columns(): number {
    return Math.max(MIN_COLUMNS, this.#options.terminal.streams.stderr.columns || 80);
  }
}

/** Returns the lines of a plain text, none longer than the width. Control characters count as spaces. */
const wrapHard = (text: string, width: number): string[] =>
  wrapAnsi(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), width, { hard: true }).split('\n');
