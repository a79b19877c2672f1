import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import { cancelled, EXIT, type ExitCode } from '../exit.ts';
import { version } from '../version.ts';

/** Writes all that the service keeps to one file, by the settings that `start` reads; the service may run. */
export async function backup(
  { env, cwd, terminal, signal }: Context,
  { file: name, force }: { file: string; force: boolean },
): Promise<ExitCode> {
  const { readStorageConfig } = await import('../../server/config.ts');
  const { writeBackup } = await import('../../server/backup/backup.ts');
  const file = resolve(cwd, name);
  const config = readStorageConfig(env);
  const { bytes, tables, icons, missing, place } = await writeBackup({
    config,
    file,
    force,
    program: version(),
    signal,
    report: (text) => terminal.note(text),
  }).catch((error) => {
    throw signal.aborted ? cancelled() : error;
  });
  if (place === 'bucket') terminal.note('The icons lie in the bucket and are not in the file.');
  if (missing > 0) terminal.note(`${missing} icons are not in ${config.dataDir}/uploads, and not in the file.`);
  const count = (table: string) => (tables[table] ?? 0).toLocaleString('en');
  const counts = `accounts ${count('users')}, websites ${count('websites')}, events ${count('audit_log')}, icons ${icons}`;
  terminal.answer({ file, bytes, tables, icons }, `${file}\n${counts}, ${bytes.toLocaleString('en')} bytes`);
  return EXIT.ok;
}
