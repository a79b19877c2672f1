import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import { cancelled, EXIT, type ExitCode } from '../exit.ts';
import { mustConfirm } from '../prompts.ts';
import { table } from '../terminal.ts';

/** Replaces all that the service keeps by what a backup holds; the service must not run. */
export async function restore(
  { env, cwd, terminal, signal }: Context,
  { file: name, revokeApiKeys }: { file: string; revokeApiKeys: boolean },
): Promise<ExitCode> {
  const { readStorageConfig } = await import('../../server/config.ts');
  const { restoreBackup } = await import('../../server/backup/restore.ts');
  const file = resolve(cwd, name);
  const config = readStorageConfig(env);
  // Where nobody can be asked it is told before a database is started.
  if (!terminal.interactive) await mustConfirm(terminal, '');
  const { manifest, migrated, apiKeys, iconsLeft } = await restoreBackup({
    config,
    file,
    revokeApiKeys,
    signal,
    report: (text) => terminal.note(text),
    async confirm({ place, present, manifest: { createdAt, tables } }) {
      const kept = (which: string) => (tables.find((each) => each.name === which)?.rows ?? 0).toLocaleString('en');
      const rows = [
        ['', 'now', 'backup'],
        ['accounts', present.accounts.toLocaleString('en'), kept('users')],
        ['websites', present.websites.toLocaleString('en'), kept('websites')],
        ['events', present.events.toLocaleString('en'), kept('audit_log')],
      ];
      terminal.note(`In ${place}:\n${table(rows)}`);
      await mustConfirm(terminal, `Replace everything by the backup of ${minute(createdAt)}?`);
    },
  }).catch((error) => {
    throw signal.aborted ? cancelled() : error;
  });

  const { createdAt, tables, icons } = manifest;
  if (migrated.length > 0) terminal.note(`Brought to this version by ${migrated.join(', ')}.`);
  terminal.note('Nobody is signed in: sessions, tokens, mailed links and remembered devices ended.');
  if (apiKeys > 0 && revokeApiKeys) terminal.note(`API keys revoked: ${apiKeys}.`);
  else if (apiKeys > 0) {
    terminal.note(
      `API keys that work, as at the backup: ${apiKeys}. One revoked since then\nhas to be revoked again, or restore with --revoke-api-keys.`,
    );
  }
  if (icons.place === 'bucket' && !config.bucket) terminal.note('The icons lie in a bucket: set the S3_ settings to have them shown.');
  if (iconsLeft > 0) terminal.note(`${iconsLeft} icons that nothing shows could not be removed from ${config.dataDir}/uploads.`);
  const rows = Object.fromEntries(tables.map((each) => [each.name, each.rows]));
  terminal.answer(
    { file, createdAt, tables: rows, icons: icons.files.length, apiKeys: revokeApiKeys ? 0 : apiKeys },
    `Restored as at ${minute(createdAt)}. Start the service.`,
  );
  return EXIT.ok;
}

const minute = (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`;
