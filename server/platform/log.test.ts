import { expect, test } from 'vitest';
import { ENTERED } from '../../contract/entered.ts';
import { createLog } from './log.ts';

/** Returns the log line of an entry. */
function written(entry: object): string {
  let text = '';
  createLog(
    { logLevel: 'info', mode: 'production' },
    {
      write(line) {
        text += line;
      },
    },
  ).info(entry, 'entry');
  return text;
}

test.each([
  '55P03',
  '57014',
  '0100C',
  'F0001',
  'HV00A',
  'P0001',
  'XX000',
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ERR_STREAM_DESTROYED',
  'unavailable',
  0,
  1,
  137,
  null,
])('shows the code %s', (code) => {
  expect(JSON.parse(written({ code })).code).toBe(code);
  expect(JSON.parse(written({ err: Object.assign(new Error('failed'), { code }) })).err.code).toBe(code ?? undefined);
});

test('shows the SQLSTATE in an error of Sequelize', () => {
  const error = Object.assign(new Error('failed'), { original: Object.assign(new Error('failed'), { code: '23505' }) });
  expect(JSON.parse(written({ err: error })).err.code).toBe('23505');
});

const SECRETS = [
  '123456',
  123456,
  '1234567',
  'constructor',
  'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  'E2EXAMPLECODE',
  'abcde',
  'ABCDE',
  'XXABC',
  'A1B2C',
  '1ABCD',
  '12AB',
  '12AB34',
];
const ENTERED_VALUES = Object.values(ENTERED).map(({ values, valueAt }) => valueAt(values - 1));
test.each([...SECRETS, ...ENTERED_VALUES])('hides the code %s', (code) => {
  for (const entry of [{ code }, { body: { code } }, { query: { code } }, { err: Object.assign(new Error('failed'), { code }) }]) {
    expect(written(entry)).not.toContain(String(code));
  }
});

test.each(['authorization', 'cookie', 'password', 'token', 'secretKey'])('hides the property %s at each of three levels', (name) => {
  for (const entry of [{ [name]: '55P03' }, { a: { [name]: '55P03' } }, { a: { b: { [name]: '55P03' } } }]) {
    expect(written(entry)).not.toContain('55P03');
  }
});
