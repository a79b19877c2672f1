import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DataDirInUse, lockDataDir } from './processes.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'emailauth-lock-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

test('allows one holder of a data directory at a time', () => {
  const release = lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(DataDirInUse);
  release();
  lockDataDir(dataDir)();
  expect(readdirSync(dataDir)).toEqual([]);
});

test('replaces the lock of a process that has ended', () => {
  const { pid } = spawnSync('true');
  writeFileSync(join(dataDir, 'service.lock'), `${pid} boot/1\n`);
  lockDataDir(dataDir)();
});

test('replaces the lock of an earlier process with the same id', () => {
  writeFileSync(join(dataDir, 'service.lock'), `${process.pid} boot/1\n`);
  lockDataDir(dataDir)();
});

test('replaces an empty lock', () => {
  writeFileSync(join(dataDir, 'service.lock'), '');
  lockDataDir(dataDir)();
});
