/** Run before the tests of deployments: installs the Debian packages that they need, where that is allowed, and names those that stay missing. */
import { spawnSync } from 'node:child_process';
import { apt, canInstall } from '../../support/apt.ts';

/** Programs by the Debian package that has them. */
const programs: Record<string, string> = {
  buildah: 'buildah',
  caddy: 'caddy',
  haproxy: 'haproxy',
  mmdebstrap: 'mmdebstrap',
  'nginx-core': 'nginx',
  openssl: 'openssl',
  pgbouncer: 'pgbouncer',
  prometheus: 'promtool',
  systemd: 'systemd-analyze',
  unzip: 'unzip',
};

const isMissing = (name: string) => {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  return spawnSync('sh', ['-c', 'command -v "$0"', programs[name]], { env }).status !== 0;
};
const missing = () => Object.keys(programs).filter(isMissing);

if (missing().length > 0 && canInstall && apt('update', '--error-on=any')) {
  // One at a time, since a package that this Debian lacks must not prevent the others.
  for (const name of missing()) {
    console.log(`Installing ${name} …`);
    apt('install', '-y', '--no-install-recommends', name);
  }
}
if (missing().length > 0) console.warn(`\n!! Some tests are skipped: on Debian, apt-get install ${missing().join(' ')}\n`);
