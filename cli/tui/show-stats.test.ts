import { expect, test } from 'vitest';
import { FrameWriter, updateSequence } from './show-stats.tsx';

const held = (text: string) => `\x1b[?2026h${text}\x1b[?2026l`;

test('only the lines that differ are written, each at its position', () => {
  expect(updateSequence(['a', 'b', 'c'], ['a', 'x', 'c'], 3)).toBe(held('\x1b[2;1H\x1b[2Kx'));
  expect(updateSequence(['a'], ['a'], 3)).toBe('');
  expect(updateSequence(['a', 'b'], ['a'], 3)).toBe(held('\x1b[2;1H\x1b[2K'));
  expect(updateSequence(null, ['a', 'b'], 3)).toBe(held('\x1b[2J\x1b[1;1H\x1b[2Ka\x1b[2;1H\x1b[2Kb'));
});

test('nothing is written below the last row, which would scroll', () => {
  expect(updateSequence(['a'], ['b', 'c', 'd'], 2)).toBe(held('\x1b[1;1H\x1b[2Kb\x1b[2;1H\x1b[2Kc'));
});

test('a stream of frames writes the differences, and everything after a reset', () => {
  const written: string[] = [];
  const output = { columns: 80, rows: 24, write: (text: string) => written.push(text) > 0 };
  const frames = new FrameWriter(output);
  frames.write('a\nb');
  frames.write('a\nb');
  frames.write('');
  frames.write('a\nc');
  output.columns = 40;
  frames.reset();
  frames.write('a\nc');
  expect(written).toEqual([
    held('\x1b[2J\x1b[1;1H\x1b[2Ka\x1b[2;1H\x1b[2Kb'),
    held('\x1b[2;1H\x1b[2Kc'),
    held('\x1b[2J\x1b[1;1H\x1b[2Ka\x1b[2;1H\x1b[2Kc'),
  ]);
  expect(frames.columns).toBe(40);
});
