import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const unit = join(import.meta.dirname, '../server/deploy/emailauth.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) console.warn('\n!! The test of the systemd unit is skipped: on Debian, apt-get install systemd\n');

test.skipIf(!hasSystemd)('the systemd unit has an exposure level of at most 2.0', () => {
  const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], { encoding: 'utf8' });
  expect([status, stdout.split('\n').findLast((line) => line.includes('Overall exposure level'))]).toEqual([0, expect.anything()]);
});
