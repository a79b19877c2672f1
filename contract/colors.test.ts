import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accentFault, buttonColors, contrastOf } from './colors.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`);

test('computes the contrast ratios of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21);
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrastOf('#0b6e58', '#0b6e58')).toBe(1);
});

test('the text of a button has a contrast of at least 4.5 for every accent color, also under the pointer', () => {
  fc.assert(
    fc.property(color, (accent) => {
      const { fill, hover, text } = buttonColors(accent);
      expect(contrastOf(fill, text)).toBeGreaterThanOrEqual(4.5);
      expect(contrastOf(hover, text)).toBeGreaterThanOrEqual(4.5);
    }),
    { numRuns: 2_000 },
  );
});

test('a button has a border in the theme whose panel its color is close to', () => {
  expect(buttonColors('#ffe600')).toMatchObject({ text: '#000000', border: { light: true, dark: false } });
  expect(buttonColors('#12123a')).toMatchObject({ text: '#ffffff', border: { light: false, dark: true } });
  expect(buttonColors('#0b6e58').border.light).toBe(false);
});

test.each(['red', '#fff', '#12345', '#1234567', '#12345g', 'url(x)', '#123456;'])('rejects %s as an accent color', (text) => {
  expect(accentFault(text)).toMatch(/A color/);
});

test.each(['', '#0b6e58', '#0B6E58'])('accepts %j as an accent color', (text) => expect(accentFault(text)).toBeNull());
