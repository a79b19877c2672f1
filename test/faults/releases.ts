import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from '../harness.ts';
import { query } from '../postgres.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../..');

/**
 * The last commit of each schema that was released, oldest first. Packages that only they import are development dependencies: compression,
 * @react-email/container and @react-email/hr.
 */
export const RELEASES = [
  { schema: '0001-sign-in', commit: 'a4f09f07c12e9daada73d68c189744ae243ee0cf' },
  { schema: '0002-portal', commit: '88db01325217372beb7ff11b125430201f3ac587' },
  { schema: '0013-audit-exports', commit: 'd98e46ee2d2893c7814403018eb1d7b74ce658c3' },
] as const;

/** The sources of a released program, with the packages of the current one; releases before server/pages also have its web pages. */
export type Release = {
  program: Program;
  /** Creates its schema in an empty database. @param migrations their names */
  createSchema(databaseUrl: string, migrations: string[]): Promise<void>;
  remove(): Promise<void>;
};

/** Returns whether this clone has the commit; a shallow clone may not. */
export async function hasCommit(commit: string): Promise<boolean> {
  return run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: repository }).then(
    () => true,
    () => false,
  );
}

/** Extracts a released program from git. It runs from its sources. */
export async function openRelease(commit: string): Promise<Release> {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-release-'));
  const archive = join(directory, 'release.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: repository });
  await run('tar', ['xf', archive, '-C', directory]);
  await symlink(join(repository, 'node_modules'), join(directory, 'node_modules'));
  if (existsSync(join(directory, 'server/pages'))) {
    // It names the chunks that a page preloads, so that it needs the pages of its own build.
    const vite = ['node_modules/vite/bin/vite.js', 'build', '--config', 'web/vite.config.ts', '--logLevel', 'error'];
    await run(process.execPath, vite, { cwd: directory, env: { ...process.env, NODE_ENV: 'production' } });
  } else {
    await mkdir(join(directory, 'dist'));
    await symlink(join(repository, 'dist/web'), join(directory, 'dist/web'));
  }
  return {
    program: { args: ['--import', 'tsx', 'cli/main.ts'], cwd: directory },
    async createSchema(databaseUrl, migrations) {
      // Releases with this file have migrations of several steps.
      if (existsSync(join(directory, 'server/db/migrations/migrations.ts'))) {
        const env = { PATH: process.env.PATH, HOME: directory, DATABASE_URL: databaseUrl, DATA_DIR: directory };
        await run(process.execPath, ['--import', 'tsx', 'cli/main.ts', 'db', 'migrate'], { cwd: directory, env });
        return;
      }
      const parts = ['create table migrations (name text primary key, at timestamptz not null default now());'];
      for (const name of migrations) {
        const text = await readFile(join(directory, `server/db/migrations/${name}.ts`), 'utf8');
        parts.push(text.slice(text.indexOf('`') + 1, text.lastIndexOf('`')), `insert into migrations (name) values ('${name}');`);
      }
      await query(databaseUrl, parts.join('\n'));
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
