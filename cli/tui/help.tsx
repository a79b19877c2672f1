import { Box, Text } from 'ink';
import type { Glyphs } from './glyphs.ts';
import type { Layout } from './layout.ts';
import { cut } from './words.ts';

/** Every key and what it does, on a screen of its own. */
export function Help({ layout: { columns, rows, margin }, glyphs }: { layout: Layout; glyphs: Glyphs }) {
  const keys = [
    [glyphs.sideways, 'choose a day'],
    [`${glyphs.upAndDown} j/k`, 'scroll the list'],
    ['PgUp/PgDn', 'scroll by a page'],
    ['Home/End', 'first or last of the pane'],
    ['Tab', 'the other pane'],
    ['r', 'refresh'],
    ['a', 'auto-refresh on or off'],
    ['?', 'this help, and back'],
    ['q Esc Ctrl-C', 'quit'],
  ];
  const width = Math.max(...keys.map(([key]) => key.length)) + 2;
  const room = columns - 2 * margin;
  return (
    <Box flexDirection="column" width={columns} height={rows} paddingX={margin} overflow="hidden">
      {rows > keys.length && <Text bold>Keys</Text>}
      {keys.map(([key, meaning]) => (
        <Text key={key} wrap="truncate">
          {cut(key.padEnd(width) + meaning, room, glyphs.ellipsis)}
        </Text>
      ))}
    </Box>
  );
}
