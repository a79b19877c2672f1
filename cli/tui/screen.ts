const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J';
const LEAVE = '\x1b[0m\x1b[?25h\x1b[?1049l';

/**
 * Goes to the terminal's other screen, with the cursor hidden, and makes sure of the way back: at whatever end of the process
 * but `kill -9`, and before an error that nobody has caught is printed.
 * @returns goes back; calling it again does nothing
 */
export function enterScreen(output: NodeJS.WriteStream): () => void {
  let isThere = true;
  const leave = () => {
    if (!isThere) return;
    isThere = false;
    process.off('exit', leave);
    process.off('uncaughtExceptionMonitor', leave);
    output.write(LEAVE);
  };
  process.on('exit', leave);
  process.on('uncaughtExceptionMonitor', leave);
  output.write(ENTER);
  return leave;
}
