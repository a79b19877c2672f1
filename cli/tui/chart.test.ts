import { expect, test } from 'vitest';
import { cellsOf, halvesOf, labelLine, plotOf, scaleTop } from './chart.tsx';

test.each([
  [0, 2],
  [1, 2],
  [2, 2],
  [3, 4],
  [10, 10],
  [9, 10],
  [11, 12],
  [1600, 1600],
  [1601, 2000],
  [2001, 3000],
  [81, 100],
  [99_999, 100_000],
])('the scale for %d ends at %d', (max, top) => expect(scaleTop(max)).toBe(top));

test.each([
  [0, [0, 0, 0]],
  [1, [0, 0, 1]],
  [1000, [0, 4, 8]],
  [1250, [0, 7, 8]],
  [2000, [8, 8, 8]],
])('%d of 2,000 fills three cells with %j eighths', (count, cells) => expect(cellsOf(count, 2000, 3)).toEqual(cells));

test('a count above zero is visible next to much larger ones', () => {
  expect(cellsOf(1, 10_000_000, 4)).toEqual([0, 0, 0, 1]);
  expect(halvesOf(1, 10_000_000, 30)).toBe(1);
  expect(halvesOf(0, 10, 30)).toBe(0);
  expect(halvesOf(10, 10, 30)).toBe(60);
  expect(halvesOf(5, 10, 0)).toBe(0);
});

test('bars have gaps and one width, from the first column to the last', () => {
  const wrong = [];
  for (let days = 2; days <= 14; days++) {
    for (let width = 2 * days; width <= 200; width++) {
      const { starts, bar } = plotOf(days, width);
      const isApart = starts.every((start, i) => i === 0 || start - starts[i - 1] > bar);
      if (starts[0] !== 0 || !isApart || (starts.at(-1) as number) + bar !== width) wrong.push(`${days} days on ${width}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(plotOf(1, 20)).toEqual({ starts: [0], bar: 10, slot: 20 });
});

test('labels never touch, and the chosen one is always shown', () => {
  const texts = Array.from({ length: 14 }, (_, i) => String(i + 10));
  const wrong = [];
  for (let width = 28; width <= 200; width++) {
    for (let chosen = 0; chosen < 14; chosen++) {
      const { text, from, to } = labelLine(plotOf(14, width), width, texts, chosen);
      const words = text.trim().split(/ +/);
      const isRight = text.length === width && text.slice(from, to).trim() === texts[chosen] && words.every((word) => texts.includes(word));
      if (!isRight) wrong.push(`${texts[chosen]} of “${text}”`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a wide chart shows all labels', () => {
  const texts = ['Thu', 'Fri', 'Sat'];
  expect(labelLine(plotOf(3, 20), 20, texts, 1)).toEqual({ text: 'Thu     Fri     Sat ', from: 8, to: 12 });
});
