import { expect, test } from 'vitest';
import { pass } from '../../diagnostics/check.ts';
import { formatReport } from './doctor.ts';

test('the report is at most 80 columns wide, except for words that must not be broken', () => {
  const record = `v=DKIM1;p=${'A'.repeat(100)}`;
  const check = { id: 'x', name: 'Name', ...pass('Some words that go on. '.repeat(8).trim(), `Add: ${record}`) };
  const lines = formatReport([check, { ...check, ok: false }, { ...check, ok: null, fix: '' }], {
    style: (_, text) => text,
    columns: Number.POSITIVE_INFINITY,
  }).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([`      ${record}`, `      ${record}`]);
  expect(lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.slice(0, 10))).toEqual([
    'PASS  Name',
    'FAIL  Name',
    'SKIP  Name',
    'One check ',
  ]);
});
