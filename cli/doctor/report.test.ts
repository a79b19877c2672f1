import { expect, test } from 'vitest';
import { pass } from '../../contract/check.ts';
import { reportOf } from './report.ts';

test('the report keeps to 80 columns, but for what must not be broken', () => {
  const record = `v=DKIM1;p=${'A'.repeat(100)}`;
  const check = { id: 'x', name: 'Name', ...pass('Some words that go on. '.repeat(8).trim(), `Add: ${record}`) };
  const lines = reportOf([check, { ...check, ok: false }, { ...check, ok: null, fix: '' }], (_, text) => text).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([`      ${record}`, `      ${record}`]);
  expect(lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.slice(0, 10))).toEqual([
    'PASS  Name',
    'FAIL  Name',
    'SKIP  Name',
    'One check ',
  ]);
});
