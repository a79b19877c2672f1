import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { deployFolder, run } from './tools.ts';

const repository = join(deployFolder, '../..');
/** The base of the Dockerfile, `node:24-bookworm-slim`, is this Debian with Node.js in /usr/local. */
const SUITE = 'bookworm';
const cache = join(homedir(), '.cache/emailauth');
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const succeeds = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Whether an image can be built and started here. On Debian, as root: apt-get install buildah mmdebstrap. */
export const canBuildImage =
  process.getuid?.() === 0 &&
  succeeds('buildah', '--version') &&
  succeeds('mmdebstrap', '--version') &&
  succeeds('unshare', '--mount', 'true');

/** What the image says about its containers. */
export type ImageConfig = {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  Volumes: Record<string, object>;
  Healthcheck: { Test: string[] };
};

/** An image built from server/deploy/Dockerfile, with one container of it. */
export type Image = {
  config: ImageConfig;
  /** The file system of the container. */
  root: string;
  /** The directory that is mounted at /data. */
  data: string;
  /** Returns the program that a container engine starts, on a read-only root, as the user of the image and without capabilities. */
  program(): { command: string; args: string[]; cwd: string };
  /** Runs the health check of the image as an engine does. @returns its exit code */
  checkHealth(env: Record<string, string>): number | null;
  remove(): Promise<void>;
};

/**
 * Builds server/deploy/Dockerfile with Buildah on a Debian made by mmdebstrap, since no registry of images is needed for that.
 * The base is kept in the user's cache.
 * @throws Error with the output of the step that failed
 */
export async function buildImage(): Promise<Image> {
  await mkdir(cache, { recursive: true });
  const home = await mkdtemp(join(tmpdir(), 'emailauth-image-'));
  const buildah = async (...args: string[]) => {
    const storage = ['--root', join(home, 'storage'), '--runroot', join(home, 'run'), '--storage-driver', 'overlay'];
    return (await run('nice', ['buildah', ...storage, ...args], { cwd: repository, maxBuffer: 2 ** 26 })).stdout.trim();
  };
  try {
    await buildBase(buildah);
    // The cache of npm makes a second build quick, and works without a network.
    const npmCache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim();
    await mkdir(npmCache, { recursive: true });
    const options = ['--isolation', 'chroot', '--layers=false', '--format', 'docker', '--volume', `${npmCache}:/root/.npm`];
    await buildah('bud', ...options, '--build-arg', 'BASE=localhost/base', '-f', 'server/deploy/Dockerfile', '-t', 'emailauth', '.');
    const config: ImageConfig = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/emailauth')).Docker.config;
    const container = await buildah('from', 'localhost/emailauth');
    const root = await buildah('mount', container);
    const data = join(home, 'data');
    await mkdir(data, { mode: 0o700 });
    const [uid, gid] = config.User.split(':').map(Number);
    await chown(data, uid, gid);
    const inside = [
      'setpriv',
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      '--no-new-privs',
      '--bounding-set=-all',
      '--inh-caps=-all',
    ];
    return {
      config,
      root,
      data,
      program() {
        const mounts = `mount --bind "$0" "$0" && mount --bind "$1" "$0/data" && mount -o remount,bind,ro "$0" &&
          mount -t tmpfs tmpfs "$0/tmp" && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && cd "$0" && shift &&
          exec chroot "$0" "$@"`;
        const start = [...inside, 'env', '-C', config.WorkingDir, ...config.Entrypoint];
        return { command: 'unshare', args: ['--mount', 'sh', '-c', mounts, root, data, ...start], cwd: '/' };
      },
      checkHealth(env) {
        const [, ...test] = config.Healthcheck.Test;
        return spawnSync('chroot', [root, ...inside, ...test], { env: { ...environmentOf(config), ...env } }).status;
      },
      async remove() {
        await buildah('umount', container);
        await rm(home, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`, { cause: error });
  }
}

/** Returns the settings that the image has for its containers. */
export function environmentOf({ Env }: ImageConfig): Record<string, string> {
  return Object.fromEntries(Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** Makes the image `localhost/base`: a Debian with the Node.js and npm of this machine, and the certificates that npm needs here. */
async function buildBase(buildah: (...args: string[]) => Promise<string>): Promise<void> {
  const debian = join(cache, `debian-${SUITE}.tar`);
  if (!existsSync(debian)) {
    const fresh = `${debian}.${process.pid}.tar`;
    await run('nice', ['mmdebstrap', '--variant=minbase', '--include=ca-certificates', SUITE, fresh], { maxBuffer: 2 ** 26 });
    await rename(fresh, debian);
  }
  const container = await buildah('from', 'scratch');
  await buildah('add', container, debian, '/');
  await buildah('copy', container, await realpath(process.execPath), '/usr/local/bin/node');
  const npm = (await run('npm', ['root', '--global'])).stdout.trim();
  await buildah('copy', container, join(npm, 'npm'), '/usr/local/lib/node_modules/npm');
  if (existsSync(CERTIFICATES)) {
    await buildah('copy', container, CERTIFICATES, CERTIFICATES);
    await buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container);
  }
  const link = 'for name in npm npx; do ln -s ../lib/node_modules/npm/bin/$name-cli.js /usr/local/bin/$name; done';
  await buildah('run', '--isolation', 'chroot', container, '--', 'sh', '-c', link);
  await buildah('commit', '--quiet', '--rm', container, 'localhost/base');
}
