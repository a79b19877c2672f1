import { expect, test } from 'vitest';
import { ENTERED, ENTERED_METHODS, enteredFault, readEntered } from './entered.ts';
import { MAX_CODE_TRIES } from './limits.ts';

const BANGLA = '১২৩৪৫৬';
test.each([
  '123456',
  ' 123 456\n',
  '123-456',
  '12–34—56',
  '123\u2011456',
  '123\u00a0456',
  '1 2 3 4 5 6',
  '1\u200b2\ufeff3\u20604\u00ad5\u200e6',
  '#123456',
  '(123 456).',
  '１２３４５６',
  '１２３　４５６',
  '١٢٣٤٥٦',
  '۱۲۳۴۵۶',
  '१२३४५६',
  '๑๒๓๔๕๖',
  '𝟏𝟐𝟑𝟒𝟓𝟔',
  '𝟷𝟸𝟹𝟺𝟻𝟼',
  '1２३4٥۶',
  BANGLA,
  '123456 is your code for shop24.example',
  '123456 – jūsų prisijungimo prie 2x4-123456a.example kodas',
  '123456 ir jūsu kods vietnei shop-654321.example',
  'Arba įveskite šį kodą lange, kuriame pradėjote:\n123456',
  '123456: enter this code where you began, or open the link. Both expire in 10 minutes.',
  'Вони дійсні 10 хвилин. 123 456',
  'Код: 123-456, 10 минут',
  '@auth24.example #123456',
  '123456\n\n@auth.example #123456',
  'Requested: 2026-11-26 12:45 UTC\n\n123456',
])('the code in %j is 123456', (input) => expect(readEntered(input).value).toBe('123456'));

test.each([
  ['', 'The code has six digits: 6 are missing.'],
  ['code', 'The code has six digits: 6 are missing.'],
  ['12345', 'The code has six digits: 1 is missing.'],
  ['12 ٣', 'The code has six digits: 3 are missing.'],
  ['①②③④⑤⑥', 'The code has six digits: 6 are missing.'],
  ['1234567', 'Give only the six digits of the code.'],
  ['123456 654321', 'Give only the six digits of the code.'],
  ['123456 or 654321', 'Give only the six digits of the code.'],
  ['123 456 or 654 321', 'Give only the six digits of the code.'],
])('%j has no code: %s', (input, fault) => {
  const read = readEntered(input);
  expect([read.value, enteredFault(read)]).toEqual([null, fault]);
});

test('reads the digits of every script', () => {
  const digits = Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /\p{Nd}/u.test(character));
  expect(digits.length).toBeGreaterThanOrEqual(650);
  for (let at = 0; at < digits.length; at += 10) expect(readEntered(digits.slice(at + 1, at + 7).join('')).value).toBe('123456');
});

test.each([
  ['12-34', '1234', 2],
  ['123456 or 654321', '123456', 0],
  ['12345678', '123456', -2],
])('of %j a field shows %s, and %d digits are missing', (input, typed, missing) => {
  expect(readEntered(input)).toEqual({ method: 'code', value: null, typed, missing });
});

/** The greatest chance that the tries of one attempt guess its code. Twice that of five tries at a million values. */
const MAX_CHANCE = 1 / 100_000;

test.each(ENTERED_METHODS)('the values of a %s have its places, and are too many to be guessed', (method) => {
  const { places, pattern, values, valueAt } = ENTERED[method];
  expect(MAX_CODE_TRIES / values).toBeLessThanOrEqual(MAX_CHANCE);
  for (const number of [0, 1, Math.floor(values / 2), values - 1]) {
    const value = valueAt(number);
    expect(value).toMatch(pattern);
    expect(value).toHaveLength(places);
    expect(readEntered(value)).toEqual({ method, value, typed: value, missing: 0 });
  }
});
