import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A certificate authority for a test, created with the openssl command. */
export type Authority = {
  /** For NODE_EXTRA_CA_CERTS. */
  file: string;
  /** Issues a certificate for a host that is valid for `days` from now; negative: it has expired. */
  issue(host: string, days: number): Promise<{ key: string; cert: string }>;
  close(): Promise<void>;
};

const run = promisify(execFile);
const DAY_MS = 86_400_000;

/** Whether the openssl command is installed. */
export const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
);

export async function openAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'emailauth-ca-'));
  const at = (name: string) => join(folder, name);
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await writeFile(
    at('ca.conf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${at('index')}\nserial=${at('serial')}\nnew_certs_dir=${folder}\nprivate_key=${at('ca.key')}\n` +
      `certificate=${at('ca.pem')}\ndefault_md=sha256\npolicy=any\ncopy_extensions=copy\nunique_subject=no\n[any]\ncommonName=supplied\n`,
  );
  await writeFile(at('index'), '');
  await writeFile(at('serial'), '1000\n');
  await run('openssl', ['req', '-x509', ...curve, '-days', '2', '-subj', '/CN=Authority', '-keyout', at('ca.key'), '-out', at('ca.pem')]);
  return {
    file: at('ca.pem'),
    async issue(host, days) {
      const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
      await run('openssl', ['req', ...curve, ...names, '-keyout', at('key.pem'), '-out', at('request.pem')]);
      const [from, until] = [Date.now() - 90 * DAY_MS, Date.now() + days * DAY_MS].map(generalizedTime);
      const term = ['-startdate', from, '-enddate', until];
      await run('openssl', [
        'ca',
        '-batch',
        '-notext',
        '-config',
        at('ca.conf'),
        ...term,
        '-in',
        at('request.pem'),
        '-out',
        at('cert.pem'),
      ]);
      return { key: await readFile(at('key.pem'), 'utf8'), cert: await readFile(at('cert.pem'), 'utf8') };
    },
    close: () => rm(folder, { recursive: true }),
  };
}

/** Formats a time as RFC 5280 §4.1.2.5.2. */
function generalizedTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
}
