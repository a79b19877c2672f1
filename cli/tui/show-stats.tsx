import { render } from 'ink';
import { EXIT } from '../exit.ts';
import { FrameWriter } from './frames.ts';
import { glyphsFor } from './glyphs.ts';
import { StatsScreen } from './stats-screen.tsx';
import type { Load } from './use-stats.ts';

// The alternate screen with a hidden cursor, and back.
const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l\x1b[2J';
const LEAVE_SCREEN = '\x1b[0m\x1b[?25h\x1b[?1049l';

/**
 * Shows the statistics on the whole terminal until the person quits, and restores the terminal.
 * @param options.host shown above the statistics
 * @param options.signal closes the screen
 * @returns the exit code
 */
export async function showStats(options: {
  host: string;
  days: number;
  load: Load;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
}): Promise<number> {
  const { host, days, load, env, signal } = options;
  const { stdout } = process;
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
