import { Box, Text } from 'ink';
import type { Glyphs } from './glyphs.ts';
import type { Layout } from './layout.ts';
import type { LoadState } from './use-stats.ts';
import { clockTime, firstFitting, truncate } from './words.ts';

type HeadingProps = { title: string; right: readonly string[]; isFocused: boolean; width: number; glyphs: Glyphs };

/** The heading of a pane, marked when it has the focus, with its main value at the right. @param props.right longer texts first */
export function Heading({ title, right, isFocused, width, glyphs }: HeadingProps) {
  const left = `${isFocused ? glyphs.marker : ' '} ${title}`;
  const fittingRight = right.find(({ length }) => left.length + 2 + length <= width);
  return (
    <Box width={width} justifyContent="space-between">
      {fittingRight === undefined ? null : (
        <Text bold={isFocused} dimColor={!isFocused}>
          {left}
        </Text>
      )}
      <Text bold>{fittingRight ?? firstFitting(right, width, glyphs.ellipsis)}</Text>
    </Box>
  );
}

type FooterProps = { state: LoadState; isAuto: boolean; layout: Layout; glyphs: Glyphs };

/** The time of the statistics, and the keys, or an error in their place. */
export function Footer({ state: { at, isLoading, error }, isAuto, layout, glyphs }: FooterProps) {
  const width = layout.columns - 2 * layout.margin;
  const auto = isAuto ? 'every minute' : 'off';
  const time = at ? clockTime(at) : '';
  const when = isLoading ? `${at ? 'Refreshing' : 'Loading'}${glyphs.ellipsis}` : time ? `Refreshed at ${time}` : 'Not loaded';
  const status = [`${when} ${glyphs.dot} auto-refresh ${auto}`, `${time || when} ${glyphs.dot} auto ${isAuto ? 'on' : 'off'}`, time];
  const keys = [
    `${glyphs.sideways} day  ${glyphs.upAndDown} scroll  Tab pane  r refresh  a auto-refresh  ? help  q quit`,
    `${glyphs.sideways} day  ${glyphs.upAndDown} scroll  r refresh  ? help  q quit`,
    `${glyphs.sideways} day  ${glyphs.upAndDown} scroll  ? help  q quit`,
    `${glyphs.sideways} day  ? help  q quit`,
    '? help  q quit',
    '? help',
  ];
  return (
    <Box flexDirection="column" flexShrink={0}>
      {(layout.footer === 2 || error.length === 0) && <Text wrap="truncate">{firstFitting(status, width, glyphs.ellipsis)}</Text>}
      {error.length > 0 ? (
        <Text color="red" wrap="truncate">
          {firstFitting(error, width, glyphs.ellipsis)}
        </Text>
      ) : (
        layout.footer === 2 && (
          <Text dimColor wrap="truncate">
            {firstFitting(keys, width, glyphs.ellipsis)}
          </Text>
        )
      )}
    </Box>
  );
}

/** A screen with every key and its meaning. */
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
  const keyWidth = Math.max(...keys.map(([key]) => key.length)) + 2;
  return (
    <Box flexDirection="column" width={columns} height={rows} paddingX={margin} overflow="hidden">
      {rows > keys.length && <Text bold>Keys</Text>}
      {keys.map(([key, meaning]) => (
        <Text key={key} wrap="truncate">
          {truncate(key.padEnd(keyWidth) + meaning, columns - 2 * margin, glyphs.ellipsis)}
        </Text>
      ))}
    </Box>
  );
}
