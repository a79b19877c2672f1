import { resolve } from 'node:path';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { table } from '../text.ts';

export const init: CommandSpec = {
  usage: 'init [dir]',
  choices: { dir: 'files', '--framework': 'frameworks', '--domain': 'sites' },
  group: 'Integration',
  summary: 'write the sign-in into a project',
  about:
    'Reads the project, shows what it would write and change, and does it after you confirm: files, .env, the entry file and packages. Then it runs the build of the project, or starts the app until it listens; when that fails, everything is rolled back. It never overwrites a file of yours without --force. --undo removes what it wrote; files that you edited since keep your edits. What is needed for that is in $XDG_STATE_HOME/emailauth (~/.local/state/emailauth).',
  flags: {
    '--framework <id>': 'instead of the detected one',
    '--domain <domain>': 'of the website; localhost during development',
    '--login-path <path>': 'where a sign-in starts (/login)',
    '--callback <path>': 'where visitors return to (/auth/callback)',
    '--language <code>': 'of the sign-in page',
    '--dry-run': 'show it as a patch and write nothing',
    '--force': 'overwrite existing files, and values in .env',
    '--no-verify': 'do not run the build or start the app afterwards',
    '--no-install': 'leave the installation of packages to you',
    '--undo': 'remove what it wrote; with --force also what was edited since',
    '--list': 'list the frameworks, and do nothing else',
  },
  examples: [
    'init',
    'init --framework express --domain shop.example',
    'init apps/web --dry-run',
    'init --domain localhost --yes --json',
    'init --undo',
    'init --list',
  ],
  json: '{framework,variant,files,env,packages,commands,verified,next}; with --undo {files,kept}; with --list [{id,name,language}]',
  exits: { 6: 'a file or a route exists already: see --force and --login-path' },
  // A rollback takes as long as the package manager needs.
  waitsForCleanUp: true,
  run: async (context, [dir], flags) => {
    if (flags.list) return listFrameworks(context.terminal);
    if (flags.undo) return undo(context, dir, flags.force === true);
    const { addSignIn } = await import('../init/add-sign-in.ts');
    return addSignIn(context, dir, flags);
  },
};

async function listFrameworks(terminal: Terminal): Promise<number> {
  const { frameworks } = await import('../../templates/catalog.ts');
  const rows = frameworks.map(({ id, name, language }) => ({ id, name, language }));
  terminal.result(rows, table(rows.map(({ id, name, language }) => [id, name, language])));
  return EXIT.ok;
}

async function undo(context: Context, dir: string | undefined, force: boolean): Promise<number> {
  const [{ requireDirectory }, { undoInit }] = await Promise.all([import('../init/questions.ts'), import('../init/undo.ts')]);
  return undoInit(context, requireDirectory(resolve(context.cwd, dir ?? '.')), force);
}
