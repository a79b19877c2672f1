import { chmodSync, chownSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDataDir, replaceFile } from './data-dir.ts';

const isRoot = process.getuid?.() === 0;

let parent: string;
let dataDir: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'emailauth-data-'));
  dataDir = join(parent, 'data');
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
});

const modeOf = (path: string) => lstatSync(path).mode & 0o777;

test.skipIf(process.platform === 'win32')('no other user may change DATA_DIR or read its files, whatever the umask is', () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  openDataDir(dataDir);
  replaceFile(join(dataDir, 'postgres-port'), '15000\n');
  replaceFile(join(dataDir, 'postgres-port'), '15001\n');
  expect(readFileSync(join(dataDir, 'postgres-port'), 'utf8')).toBe('15001\n');
  expect([modeOf(dataDir), modeOf(join(dataDir, 'postgres-port'))]).toEqual([isRoot ? 0o711 : 0o700, 0o600]);
  openDataDir(dataDir);
});

describe.skipIf(process.platform === 'win32')('DATA_DIR is refused', () => {
  test.each(['secret-key', 'postgres', 'postgres.log', 'service.lock', 'inbox'])('with a link in place of %s', (name) => {
    openDataDir(dataDir);
    symlinkSync(join(parent, 'elsewhere'), join(dataDir, name));
    expect(() => openDataDir(dataDir)).toThrow(`${join(dataDir, name)} is a link`);
  });

  test.each(['secret-key', 'admin-password', 'postgres-password'])('with a %s that everyone can read', (name) => {
    openDataDir(dataDir);
    const path = join(dataDir, name);
    writeFileSync(path, 'secret\n');
    chmodSync(path, 0o644);
    expect(() => openDataDir(dataDir)).toThrow(`chmod 600 ${path}`);
  });

  test.runIf(isRoot)('with a file of another user, who is named', () => {
    openDataDir(dataDir);
    const path = join(dataDir, 'postgres-supervisor');
    writeFileSync(path, '');
    chownSync(path, 65_534, 65_534);
    expect(() => openDataDir(dataDir)).toThrow(
      /belongs to the user nobody, and this process runs as root\. Run it as that user: sudo -u nobody/,
    );
  });
});

test('files of others in DATA_DIR do not matter', () => {
  openDataDir(dataDir);
  symlinkSync(parent, join(dataDir, 'notes'));
  writeFileSync(join(dataDir, 'readme.txt'), '');
  openDataDir(dataDir);
});
