import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Change, patchOf, readExisting, writeAll } from './files.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'emailauth-files-')));
});
afterEach(() => rmSync(root, { recursive: true }));

const changeOf = (path: string, after: string, mode?: number): Change => ({
  path,
  ...readExisting(root, path),
  after: Buffer.from(after),
  mode,
});
const linkBelow = (path: string, target: string) => {
  mkdirSync(join(root, path, '..'));
  symlinkSync(target, join(root, path));
};
const tree = () => readdirSync(root, { recursive: true }).sort();

describe('reading a path', () => {
  test('returns null for a missing file, also in a missing directory', () => {
    expect(readExisting(root, 'a/b/c.js')).toEqual({ target: join(root, 'a/b/c.js'), before: null });
  });

  test('reads a file, also through links within the project', () => {
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real/a.js'), 'x');
    symlinkSync('real', join(root, 'linked'));
    symlinkSync('a.js', join(root, 'real/b.js'));
    expect(readExisting(root, 'linked/b.js')).toEqual({ target: join(root, 'real/a.js'), before: Buffer.from('x') });
    expect(readExisting(root, 'linked/c/d.js').target).toBe(join(root, 'real/c/d.js'));
  });

  test.each(['../a.js', 'a/../../b.js', '/etc/hosts'])('rejects %s', (path) => {
    expect(() => readExisting(root, path)).toThrow(`${path} leads out of the project.`);
  });

  test.each<[string, () => void, RegExp]>([
    ['a directory', () => mkdirSync(join(root, 'a/b'), { recursive: true }), /a\/b is a directory/],
    ['a file above', () => writeFileSync(join(root, 'a'), ''), /a is not a directory/],
    ['a link out of the project', () => symlinkSync(tmpdir(), join(root, 'a')), /a is a symbolic link out/],
    ['a link to a neighbour that begins alike', () => symlinkSync(`${root}-2`, join(root, 'a')), /link to a missing file/],
    ['a link to itself', () => symlinkSync('a', join(root, 'a')), /link to a missing file/],
    ['a file elsewhere', () => linkBelow('a/b', '/etc/hostname'), /a\/b is a symbolic link out/],
  ])('refuses %s', (_, make, message) => {
    make();
    expect(() => readExisting(root, 'a/b')).toThrow(message);
  });
});

test('writes all files and their directories; an existing file keeps its mode', () => {
  writeFileSync(join(root, 'old.js'), 'old', { mode: 0o640 });
  writeAll(root, [changeOf('old.js', 'new'), changeOf('a/b/c.js', 'c'), changeOf('.env', 'S=1', 0o600)]);
  expect(tree()).toEqual(['.env', 'a', 'a/b', 'a/b/c.js', 'old.js']);
  expect(readFileSync(join(root, 'old.js'), 'utf8')).toBe('new');
  expect(statSync(join(root, 'old.js')).mode & 0o777).toBe(0o640);
  expect(statSync(join(root, '.env')).mode & 0o777).toBe(0o600);
});

test('writes through a link within the project and leaves the link', () => {
  mkdirSync(join(root, 'real'));
  symlinkSync('real/a.js', join(root, 'a.js'));
  writeFileSync(join(root, 'real/a.js'), 'old');
  writeAll(root, [changeOf('a.js', 'new')]);
  expect(readFileSync(join(root, 'real/a.js'), 'utf8')).toBe('new');
  expect(realpathSync(join(root, 'a.js'))).toBe(join(root, 'real/a.js'));
});

test('changes nothing when one file cannot be written', () => {
  writeFileSync(join(root, 'old.js'), 'old');
  // The second one needs a directory where the first one needs a file.
  const changes = [changeOf('old.js', 'new'), changeOf('new.js', 'new'), changeOf('a', 'file'), changeOf('a/b', 'below')];
  expect(() => writeAll(root, changes)).toThrow(/a cannot be written/);
  expect(tree()).toEqual(['old.js']);
  expect(readFileSync(join(root, 'old.js'), 'utf8')).toBe('old');
});

test.each<[string, () => void]>([
  ['was written', () => writeFileSync(join(root, 'a.js'), 'theirs')],
  ['became a link', () => symlinkSync('/etc/hostname', join(root, 'a.js'))],
  ['became a directory', () => mkdirSync(join(root, 'a.js'))],
])('changes nothing when a path %s in the meantime', (_, meanwhile) => {
  const changes = [changeOf('b.js', 'new'), changeOf('a.js', 'new')];
  meanwhile();
  expect(() => writeAll(root, changes)).toThrow();
  expect(tree()).toEqual(['a.js']);
});

const plain = (_: string, text: string) => text;
const marked = (format: string, text: string) => `<${format}>${text}`;
const bytes = (text: string) => Buffer.from(text);

test('shows a new file in full', () => {
  expect(patchOf({ path: 'a.js', before: null, after: bytes('one\ntwo\n') }, plain)).toBe(
    '--- /dev/null\n+++ a.js\n@@ -0,0 +1,2 @@\n+one\n+two',
  );
});

test('shows the changes of an existing file', () => {
  const before = bytes('1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  const after = bytes('1\n2\n3\n4\nfive\n6\n7\n8\n9\n');
  expect(patchOf({ path: 'a', before, after }, plain)).toBe('--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8');
});

test('shows only the addition to a file that is completed', () => {
  const shown = (before: string, addition: string) =>
    patchOf({ path: '.env', before: bytes(before), after: bytes(before + addition), addition }, plain);
  expect(shown('KEY=secret', '\nA=1\nB=2\n')).toBe('--- .env\n+++ .env\n@@ -1,0 +2,2 @@\n+A=1\n+B=2');
  expect(shown('KEY=secret\r\nK=2\r\n', 'A=1\r\n')).toBe('--- .env\n+++ .env\n@@ -2,0 +3,1 @@\n+A=1');
  expect(shown('', 'A=1\n')).toBe('--- .env\n+++ .env\n@@ -0,0 +1,1 @@\n+A=1');
});

test('colors additions and removals', () => {
  const patch = patchOf({ path: 'a', before: bytes('x\ny\n'), after: bytes('x\nz') }, marked);
  expect(patch.split('\n')).toEqual([
    '<bold>--- a',
    '<bold>+++ a',
    '<dim>@@ -1,2 +1,2 @@',
    ' x',
    '<red>-y',
    '<green>+z',
    '<dim>\\ No newline at end of file',
  ]);
});

test('removes what a terminal interprets', () => {
  const before = bytes('\x1b]0;owned\x07 \x9b2J \u202Etxt \ttab\r\n');
  const patch = patchOf({ path: 'a', before, after: bytes('') }, plain);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about.
  expect(patch).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  expect(patch).toContain('-␛]0;owned␇ ␡2J ␡txt \ttab');
});
