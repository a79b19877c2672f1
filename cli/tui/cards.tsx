import { Box, Text } from 'ink';
import { formatCount, type LoginStats } from '../stats.ts';
import type { Glyphs } from './glyphs.ts';
import type { Layout } from './layout.ts';
import { firstFitting, formatShort } from './words.ts';

type Props = { stats: LoginStats | null; days: number; layout: Layout; glyphs: Glyphs };

/** Today, the total and the average: as three boxes, or in one line where these do not fit. */
export function Cards({ stats, days, layout, glyphs }: Props) {
  const numbers = stats && [stats.today, stats.total, stats.average];
  const long = ['Today', days === 1 ? 'Total, 1 day' : `Total, ${days} days`, 'Average a day'];
  const short = ['Today', days === 1 ? '1 day' : `${days} days`, 'A day'];
  if (layout.cards === 'line') return <Line numbers={numbers} long={long} short={short} layout={layout} glyphs={glyphs} />;
  const room = layout.cardWidth - 4;
  const labels = long.every(({ length }) => length <= room) ? long : short;
  return (
    <Box columnGap={1}>
      {labels.map((label, i) => (
        <Box
          key={label}
          width={layout.cardWidth}
          paddingX={1}
          flexDirection="column"
          borderStyle={glyphs.border}
          borderDimColor
          flexShrink={0}
        >
          <Text dimColor wrap="truncate">
            {label}
          </Text>
          <Text bold wrap="truncate">
            {numbers ? firstFitting([formatCount(numbers[i]), formatShort(numbers[i])], room, glyphs.ellipsis) : glyphs.ellipsis}
          </Text>
        </Box>
      ))}
    </Box>
  );
}

type LineProps = { numbers: number[] | null; long: string[]; short: string[]; layout: Layout; glyphs: Glyphs };

function Line({ numbers, long, short, layout, glyphs }: LineProps) {
  const line = (labels: string[], format: (count: number) => string) =>
    labels.map((label, i) => `${label} ${numbers ? format(numbers[i]) : glyphs.ellipsis}`).join(` ${glyphs.dot} `);
  const texts = [
    line(long, formatCount),
    line(short, formatCount),
    line(short, formatShort),
    line(short.slice(0, 2), formatShort),
    line(short.slice(0, 1), formatShort),
  ];
  return (
    <Text bold wrap="truncate">
      {firstFitting(texts, layout.columns - 2 * layout.margin, glyphs.ellipsis)}
    </Text>
  );
}
