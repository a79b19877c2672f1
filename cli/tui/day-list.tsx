import { Box, Text } from 'ink';
import { type Day, inFull } from '../stats.ts';
import { halvesOf } from './bars.ts';
import type { Glyphs } from './glyphs.ts';
import { Heading } from './heading.tsx';
import { fullDay, shortDay } from './words.ts';

/** A shorter one tells nothing. */
const MIN_BAR = 4;

type Props = {
  /** Newest first. */
  days: readonly Day[];
  first: number;
  chosen: number;
  isInUse: boolean;
  size: { width: number; rows: number };
  glyphs: Glyphs;
};

/** Every day in a line, as many as there is room for. */
export function DayList({ days, first, chosen, isInUse, size, glyphs }: Props) {
  const shown = days.slice(first, first + size.rows);
  const name = size.width >= 40 ? fullDay : shortDay;
  const counts = Math.max(...days.map(({ count }) => inFull(count).length));
  const greatest = Math.max(...days.map(({ count }) => count));
  const room = size.width - 2 - name(days[0].date).length - 2 - counts - 2;
  const bar = (count: number) => {
    const halves = room < MIN_BAR ? 0 : halvesOf(count, greatest, room);
    return halves === 0 ? '' : `  ${glyphs.whole.repeat(Math.floor(halves / 2))}${halves % 2 ? glyphs.half : ''}`;
  };
  const places = `${first + 1} to ${first + shown.length} of ${days.length}`;
  return (
    <Box flexDirection="column" width={size.width} flexShrink={0}>
      <Heading
        title={days.length === 1 ? 'The day' : `All ${days.length} days`}
        right={[shown.length < days.length ? places : '', '']}
        isInUse={isInUse}
        width={size.width}
        glyphs={glyphs}
      />
      {shown.map(({ date, count }, i) => (
        <Text key={date} wrap="truncate">
          {first + i === chosen ? `${glyphs.marker} ` : '  '}
          <Text inverse={first + i === chosen}>{name(date)}</Text>
          {`  ${inFull(count).padStart(counts)}`}
          <Text color="cyan">{bar(count)}</Text>
        </Text>
      ))}
    </Box>
  );
}
