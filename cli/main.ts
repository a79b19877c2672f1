#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { describeExit, EXIT } from './exit.ts';

/** The version in package.json, which lies one directory up from source and two from dist. */
function version(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const home = here.endsWith(join('dist', 'cli')) ? join(here, '../..') : join(here, '..');
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
}

const program = new Command('emailauth')
  .description('Passwordless e-mail sign-in for any site.')
  .version(version())
  .exitOverride()
  .showHelpAfterError('(emailauth --help lists the commands)')
  .addHelpText('after', '\nExamples:\n  $ emailauth start\n  $ emailauth start --port 8080');

program
  .command('start')
  .description('run the service (what `npm start` does)')
  .option('--port <port>', 'port to listen on, instead of PORT')
  .option('--host <host>', 'address to listen on, instead of HOST')
  .addHelpText(
    'after',
    '\nEvery other setting comes from the environment: see docs/operations.md.\n\nExample:\n  $ emailauth start --port 8080',
  )
  .action(async (options: { port?: string; host?: string }) => {
    const { start } = await import('./commands/start.ts');
    process.exitCode = await start(options, process.env);
  });

try {
  await program.parseAsync();
} catch (error) {
  // commander has said what is wrong with the arguments; --help and --version end here too.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    const { sentence, code } = describeExit(error);
    process.stderr.write(`${sentence}\n`);
    process.exitCode = code;
  }
}
// A command that has ended leaves nothing to wait for.
process.exit();
