#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Columns of the help that the build stores. */
const STORED_COLUMNS = 80;

// Programs and shells ask for the help often; it is printed without loading the commands, which takes as long as the start of Node.js.
const help = readStoredHelp();
if (help === null) {
  cacheCompiledCode();
  await import('./process.ts');
} else {
  printHelp(help);
}

/** Returns the help of `emailauth --help` as the build has stored it in dist/cli/help.txt, or null when it does not apply. */
function readStoredHelp(): string | null {
  const { argv, env, stdout } = process;
  if (argv.length !== 3 || !/^(?:--help|-h)$/.test(argv[2])) return null;
  if (env.FORCE_COLOR || (stdout.isTTY && (stdout.columns < STORED_COLUMNS || env.TERM === 'dumb'))) return null;
  try {
    const styled = readFileSync(new URL('./help.txt', import.meta.url), 'utf8');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: removes the styles (SGR, ECMA-48).
    return stdout.isTTY && !env.NO_COLOR ? styled : styled.replace(/\x1b\[\d+m/g, '');
  } catch {
    // Not built.
    return null;
  }
}

/**
 * Keeps compiled code in a folder of the user, so that the next start compiles less. Node.js older than 22.8 cannot; a folder that cannot
 * be written is no error. A folder in the temporary directory would let other users put code into this process.
 */
function cacheCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  const { XDG_CACHE_HOME } = process.env;
  try {
    enableCompileCache?.(join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'emailauth/compiled'));
  } catch {
    // The user has no home directory.
  }
}

function printHelp(text: string): void {
  // The reader may close the pipe, `head` for instance.
  process.stdout.on('error', () => process.exit());
  process.stdout.write(text);
}
