import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage } from './harness.ts';
import { freshAddress, registerWebsite, requestEmail } from './sign-ins.ts';
import { freePort, waitUntil } from './waiting.ts';

const RSYSLOG = '/usr/sbin/rsyslogd';
const hasRsyslog = existsSync(RSYSLOG);
if (!hasRsyslog) console.warn('\n!! The test with rsyslog is skipped: on Debian, apt-get install rsyslog\n');

/** Starts rsyslog, which writes each message as it came into a file. */
async function startRsyslog(folder: string, port: number) {
  const file = join(folder, 'messages');
  const config = `global(workDirectory="${folder}" maxMessageSize="64k" parser.escapeControlCharactersOnReceive="off")
module(load="imtcp")
template(name="fields" type="string" string="%pri%|%hostname%|%app-name%|%msgid%|%structured-data%|%msg%\\n")
input(type="imtcp" port="${port}" address="127.0.0.1")
*.* action(type="omfile" file="${file}" template="fields")
`;
  await writeFile(join(folder, 'rsyslog.conf'), config);
  const child = spawn(RSYSLOG, ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')], { stdio: 'ignore' });
  return {
    messages: async () =>
      existsSync(file) ? (await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('emailauth@32473')) : [],
    stop: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
    },
  };
}

test.skipIf(!hasRsyslog)(
  'every row of the audit log reaches rsyslog, also those from while it and the service were away',
  { timeout: 540_000 },
  async () => {
    const stage = await openStage();
    const folder = await mkdtemp(join(tmpdir(), 'emailauth-syslog-'));
    const port = await freePort();
    const settings = { AUDIT_SYSLOG_URL: `tcp://127.0.0.1:${port}` };
    const cursor = async () => (await stage.query('select last_audit_id::int as id from audit_exports'))[0]?.id as number | undefined;
    const rows = async (after: number) =>
      (await stage.query('select id::int from audit_log where id > $1 order by id', [after])).map(({ id }) => id);
    let rsyslog = await startRsyslog(folder, port);
    try {
      const first = await stage.start(settings);
      const began = async () => (await cursor()) !== undefined;
      await waitUntil('the export has begun', 200_000, began);
      const start = (await cursor()) as number;
      const domain = await registerWebsite(first.client());
      const email = freshAddress();
      await requestEmail(first.client(), email, `https://${domain}/`);
      const received = async () => (await rsyslog.messages()).map((line) => Number(/ id="(\d+)"/.exec(line)?.[1]));
      const hasAll = async () => {
        const [wanted, found] = [await rows(start), new Set(await received())];
        return (wanted.length > 0 && wanted.every((id) => found.has(id as number))) || `${found.size} of ${wanted.length}`;
      };
      await waitUntil('rsyslog has the rows', 200_000, hasAll);
      const line = (await rsyslog.messages()).find((each) => each.includes(email)) ?? '';
      expect(line).toMatch(/^110\|localhost\|emailauth\|sign_in_requested\|\[emailauth@32473 /);
      expect(line).toContain(`"domain":"${domain}"`);

      await rsyslog.stop();
      await requestEmail(first.client(), freshAddress(), `https://${domain}/`);
      await first.kill();
      rsyslog = await startRsyslog(folder, port);
      await stage.start(settings);
      await waitUntil('rsyslog has the row from while it was away', 200_000, hasAll);
      await waitUntil('the cursor has moved', 60_000, async () => (await cursor()) === (await rows(start)).at(-1));
    } finally {
      await rsyslog.stop();
      await stage.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
