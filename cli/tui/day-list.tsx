import { Box, Text } from 'ink';
import { type Day, formatCount } from '../stats.ts';
import { halvesOf } from './bars.ts';
import { Heading } from './chrome.tsx';
import type { Glyphs } from './glyphs.ts';
import { fullDay, shortDay } from './words.ts';

/** A shorter bar is left out. */
const MIN_BAR = 4;

type Props = {
  /** Newest first. */
  days: readonly Day[];
  first: number;
  chosen: number;
  isFocused: boolean;
  size: { width: number; rows: number };
  glyphs: Glyphs;
};

/** One line for each day, as many as fit. */
export function DayList({ days, first, chosen, isFocused, size, glyphs }: Props) {
  const shown = days.slice(first, first + size.rows);
  const name = size.width >= 40 ? fullDay : shortDay;
  const counts = Math.max(...days.map(({ count }) => formatCount(count).length));
  const max = Math.max(...days.map(({ count }) => count));
  const barWidth = size.width - 2 - name(days[0].date).length - 2 - counts - 2;
  const bar = (count: number) => {
    const halves = barWidth < MIN_BAR ? 0 : halvesOf(count, max, barWidth);
    return halves === 0 ? '' : `  ${glyphs.whole.repeat(Math.floor(halves / 2))}${halves % 2 ? glyphs.half : ''}`;
  };
  const range = `${first + 1} to ${first + shown.length} of ${days.length}`;
  return (
    <Box flexDirection="column" width={size.width} flexShrink={0}>
      <Heading
        title={days.length === 1 ? 'The day' : `All ${days.length} days`}
        right={[shown.length < days.length ? range : '', '']}
        isFocused={isFocused}
        width={size.width}
        glyphs={glyphs}
      />
      {shown.map(({ date, count }, i) => (
        <Text key={date} wrap="truncate">
          {first + i === chosen ? `${glyphs.marker} ` : '  '}
          <Text inverse={first + i === chosen}>{name(date)}</Text>
          {`  ${formatCount(count).padStart(counts)}`}
          <Text color="cyan">{bar(count)}</Text>
        </Text>
      ))}
    </Box>
  );
}
