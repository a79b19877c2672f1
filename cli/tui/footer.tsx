import { Box, Text } from 'ink';
import type { Glyphs } from './glyphs.ts';
import type { Layout } from './layout.ts';
import type { Loaded } from './use-stats.ts';
import { clockTime, fitting } from './words.ts';

type Props = { loaded: Loaded; isAuto: boolean; layout: Layout; glyphs: Glyphs };

/** When the figures are from, and the keys; an error takes the place of the keys. */
export function Footer({ loaded: { at, isLoading, error }, isAuto, layout, glyphs }: Props) {
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
      {(layout.footer === 2 || error.length === 0) && <Text wrap="truncate">{fitting(status, width, glyphs.ellipsis)}</Text>}
      {error.length > 0 ? (
        <Text color="red" wrap="truncate">
          {fitting(error, width, glyphs.ellipsis)}
        </Text>
      ) : (
        layout.footer === 2 && (
          <Text dimColor wrap="truncate">
            {fitting(keys, width, glyphs.ellipsis)}
          </Text>
        )
      )}
    </Box>
  );
}
