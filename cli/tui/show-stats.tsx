import { render } from 'ink';
import { EXIT } from '../exit.ts';
import { Frames } from './frames.ts';
import { glyphsFor } from './glyphs.ts';
import { enterScreen } from './screen.ts';
import { StatsScreen } from './stats-screen.tsx';
import type { Load } from './use-stats.ts';

/**
 * Shows the figures on the whole terminal until somebody quits, and leaves it as it was.
 * @param options.host shown above the figures
 * @param options.signal ends it, as the signals of the process do
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
  const frames = new Frames(stdout);
  let exitCode: number = EXIT.ok;
  const quit = () => app.unmount();
  const screen = () => (
    <StatsScreen host={host} days={days} load={load} size={{ columns: stdout.columns, rows: stdout.rows }} glyphs={glyphs} onQuit={quit} />
  );

  const leave = enterScreen(stdout);
  // Ctrl-C is a key here; its signal comes only from elsewhere.
  const app = render(screen(), {
    stdout: frames as unknown as NodeJS.WriteStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  const resize = () => {
    frames.startAnew();
    app.rerender(screen());
  };
  const abort = () => {
    exitCode = EXIT.cancelled;
    app.unmount();
    leave();
  };
  signal.addEventListener('abort', abort);
  stdout.on('resize', resize);
  try {
    await app.waitUntilExit();
    return exitCode;
  } finally {
    stdout.off('resize', resize);
    signal.removeEventListener('abort', abort);
    leave();
  }
}
