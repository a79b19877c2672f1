import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './start-error.ts';

/** Where root stores what the user `postgres` could not reach elsewhere, for instance below /root. */
export const REACHABLE_HOME = '/var/lib/emailauth';

/** What the service stores at the top of DATA_DIR. */
const OWN = /^(?:secret-key|admin-password|service\.lock|postgres(?:-password|-port|-supervisor|\.log)?|inbox|uploads)$/;
const SECRETS = /^(?:secret-key|admin-password|postgres-password)$/;

/**
 * Creates DATA_DIR, which no other user may change whatever the umask is, or checks what the service has stored in it: that it belongs to
 * the user of this process, is no link to elsewhere, and that its secrets are not readable by everyone. Nothing is written before.
 * @throws StartError with the remedy
 */
export function openDataDir(dataDir: string): void {
  const isRoot = process.getuid?.() === 0;
  // PostgreSQL runs as another user when the service runs as root, and has to pass through.
  mkdirSync(dataDir, { recursive: true, mode: isRoot ? 0o711 : 0o700 });
  const user = process.getuid?.();
  if (user === undefined) return;
  const { uid: owner } = statSync(dataDir);
  // Its owner could replace the secrets. Root owns the volumes of containers.
  if (owner !== user && owner !== 0 && !isRoot) throw new StartError(ownerText(dataDir, dataDir, owner, user));
  for (const name of readdirSync(dataDir).filter((each) => OWN.test(each))) {
    const path = join(dataDir, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // Another process may have removed it meanwhile.
    if (!stat) continue;
    if (stat.isSymbolicLink() && !(isRoot && stat.uid === 0 && leadsHome(path))) throw new StartError(linkText(path));
    const isOfPostgres = isRoot && name === 'postgres' && nameOf(stat.uid) === 'postgres';
    if (stat.uid !== user && !isOfPostgres) throw new StartError(ownerText(path, dataDir, stat.uid, user));
    if (SECRETS.test(name) && stat.mode & 0o004) {
      throw new StartError(`${path} can be read by every user of this machine. If you made it, run: chmod 600 ${path}`);
    }
  }
}

/** Whether a link is that of a cluster which root keeps where the user `postgres` can reach it. */
const leadsHome = (path: string) => readlinkSync(path).startsWith(`${REACHABLE_HOME}/data-`);

const linkText = (path: string) =>
  `${path} is a link, which the service does not follow. Replace it by what it leads to, or give another directory in DATA_DIR.`;

function ownerText(path: string, dataDir: string, owner: number, user: number): string {
  const found = `${path} belongs to the user ${nameOf(owner)}, and this process runs as ${nameOf(user)}.`;
  if (user === 0) return `${found} Run it as that user: sudo -u ${nameOf(owner)} …`;
  return `${found} Give everything to one user: sudo chown -R ${nameOf(user)} ${dataDir}`;
}

/** Returns the name of a user, or the number of one without a name. */
function nameOf(uid: number): string {
  return spawnSync('id', ['-un', String(uid)], { encoding: 'utf8' }).stdout?.trim() || String(uid);
}

/** Replaces a file as a whole, also one of another user. Only the own user can read the new one (mode 600). */
export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, path);
}
