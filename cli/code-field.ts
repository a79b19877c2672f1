import { createInterface, type Key } from 'node:readline';
import { cancelled } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** What somebody wants who waits for a mail. */
export type Wish = { kind: 'code'; digits: string } | { kind: 'new_mail' };

/** A field for six digits below a line that goes on counting while it waits, on stderr. */
export type CodeField = {
  /** What is typed next. */
  next(): Promise<Wish>;
  /** Shows a message above the field, in place of the one before. */
  say(message: string): void;
  /** Writes a line above it all, which stays. */
  note(text: string): void;
  /** Rejects at Ctrl-C, Ctrl-D and Esc. */
  cancelled: Promise<never>;
  /** Takes the field off the screen and leaves the terminal as it was. */
  close(): void;
};

const LABEL = 'Code: ';
const DIGITS = 6;
const FRAME_MS = 1000;
const SPINNER = ['|', '/', '-', '\\'];
const PASTE = { on: '\x1b[?2004h', off: '\x1b[?2004l' };
/** A key that begins like others, Esc for instance, waits so long for the rest. */
const ESCAPE_MS = 50;

/**
 * @param parts.status what is waited for, asked again at each frame
 * @param parts.keys what can be pressed
 * @param parts.mayAskAnew whether an empty Enter means a new mail; `r` always does
 */
export function openCodeField(parts: {
  status(): string;
  keys: string;
  mayAskAnew(): boolean;
  style: Terminal['style'];
  signal: AbortSignal;
}): CodeField {
  const { stdin, stderr } = process;
  const { style, signal } = parts;
  let wanted: ((wish: Wish) => void) | null = null;
  let [digits, message, tick, pasting, closed] = ['', '', 0, false, false];
  /** Lines as they stand on the screen; the field is the last, since terminals differ in what they do below the cursor when they are resized. */
  let drawn: string[] = [];

  // Raw mode, Esc and Ctrl-Z are readline's; the line that it keeps is not used.
  const keys = createInterface({ input: stdin, terminal: true, escapeCodeTimeout: ESCAPE_MS });
  const interrupted = new Promise<never>((_, reject) => {
    keys.once('close', () => reject(cancelled()));
  });
  interrupted.catch(() => {});

  const frame = () => {
    const width = columns() - 1;
    const dim = [...wrap(`${SPINNER[tick % SPINNER.length]} ${parts.status()}`, width), ...wrap(parts.keys, width)];
    const shown = digits.length > 3 ? `${digits.slice(0, 3)} ${digits.slice(3)}` : digits;
    return { dim: dim.length, lines: [...dim, ...(message ? wrap(message, width) : []), `${LABEL}${shown}`] };
  };

  const draw = (above = '') => {
    if (closed) return;
    const { dim, lines } = frame();
    if (!above && lines.join('\n') === drawn.join('\n')) return;
    const styled = lines.map((line, i) => `${i < dim ? style('dim', line) : line}\x1b[K`);
    // In one write, each line over the one before, so that nothing flickers.
    stderr.write(`${toTop()}${above && `${above}\x1b[K\r\n`}${styled.join('\r\n')}\x1b[J`);
    drawn = lines;
  };

  /** To the first line of what is drawn, whose lines a narrower window may have broken. */
  const toTop = () => {
    const rows = drawn.slice(0, -1).reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns())), 0);
    return `${rows > 0 ? `\x1b[${rows}A` : ''}\r`;
  };

  // While the last wish is looked after, another one would only be a key that was held down.
  const tell = (wish: Wish) => {
    if (!wanted) return;
    digits = '';
    wanted(wish);
    wanted = null;
  };

  const press = (text: string | undefined, { name, ctrl }: Key) => {
    if (closed) return;
    if (name === 'paste-start' || name === 'paste-end') pasting = name === 'paste-start';
    else if (text !== undefined && /^\d$/.test(text)) digits = (digits + text).slice(0, DIGITS);
    else if (name === 'escape') keys.close();
    else if (pasting) return;
    else if (name === 'backspace') digits = digits.slice(0, -1);
    else if (ctrl && name === 'u') digits = '';
    else if (name === 'return' || name === 'enter') enter();
    else if (name === 'r') tell({ kind: 'new_mail' });
    draw();
  };

  const enter = () => {
    if (digits.length === DIGITS) tell({ kind: 'code', digits });
    else if (digits === '' && parts.mayAskAnew()) tell({ kind: 'new_mail' });
    else message = 'The code has six digits.';
  };

  const columns = () => Math.max(20, stderr.columns || 80);
  // Lines that the old width broke would else be joined again at the next one.
  const redraw = () => {
    stderr.write(`${toTop()}\x1b[J`);
    drawn = [];
    draw();
  };
  const timer = setInterval(() => {
    tick++;
    draw();
  }, FRAME_MS);

  const close = () => {
    if (closed) return;
    stderr.write(`${toTop()}\x1b[J${PASTE.off}`);
    closed = true;
    clearInterval(timer);
    stdin.off('keypress', press);
    stderr.off('resize', redraw);
    signal.removeEventListener('abort', close);
    keys.close();
  };

  stdin.on('keypress', press);
  stderr.on('resize', redraw);
  signal.addEventListener('abort', close);
  stderr.write(PASTE.on);
  draw();

  return {
    next: () =>
      new Promise((resolve) => {
        wanted = resolve;
      }),
    say(text) {
      message = text;
      draw();
    },
    note: (text) => draw(text),
    cancelled: interrupted,
    close,
  };
}

/** Breaks plain text into lines of at most so many columns, between words where it can. A control character ends a word, no more. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/[\s\p{Cc}]+/u)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else for (let at = 0; at < Math.max(1, word.length); at += width) lines.push(word.slice(at, at + width));
  }
  return lines;
}
