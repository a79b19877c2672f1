import { Box, Text } from 'ink';
import { type Day, inFull } from '../stats.ts';
import { cellsOf, type LabelLine, labelLine, MIN_SLOT, plotOf, scaleTop } from './bars.ts';
import type { Glyphs } from './glyphs.ts';
import { Heading } from './heading.tsx';
import { dayParts, fullDay, inShort, shortDay } from './words.ts';

type Props = {
  /** Newest first. */
  days: readonly Day[];
  chosen: number;
  isInUse: boolean;
  size: { width: number; bars: number; labels: 1 | 2 };
  glyphs: Glyphs;
};

/** Bars of the last days, oldest at the left, with the figure of the chosen day above. */
export function Chart({ days, chosen, isInUse, size, glyphs }: Props) {
  const top = scaleTop(Math.max(...days.map(({ count }) => count)));
  const scale = (count: number) => (top < 100_000 ? inFull(count) : inShort(count));
  const axis = scale(top).length + 1;
  const width = size.width - axis;
  // Where not all fit, the days around the chosen one are left.
  const many = Math.max(1, Math.min(days.length, Math.floor((width + 1) / MIN_SLOT)));
  const skipped = Math.max(0, chosen - many + 1);
  const shown = days.slice(skipped, skipped + many).reverse();
  const at = shown.length - 1 - (chosen - skipped);

  const plot = plotOf(shown.length, width);
  const bars = shown.map(({ count }) => cellsOf(count, top, size.bars));
  const [from, to] = [plot.starts[at], plot.starts[at] + plot.bar];
  const rows = Array.from({ length: size.bars }, (_, row) => {
    const line = Array.from({ length: width }, () => ' ');
    for (const [i, start] of plot.starts.entries()) line.fill(glyphs.eighths[bars[i][row]], start, start + plot.bar);
    return line.join('');
  });
  const middle = size.bars >= 4 && size.bars % 2 === 0 ? size.bars / 2 : -1;
  const marks = rows.map((_, row) => (row === 0 ? scale(top) : row === middle ? scale(top / 2) : ''));

  const parts = shown.map(({ date }) => dayParts(date));
  const letters = plot.slot >= 4 ? 3 : plot.slot === 3 ? 2 : 1;
  const { date, count } = days[chosen];
  const figure = `${inFull(count)} ${count === 1 ? 'sign-in' : 'sign-ins'}`;
  const span = days.length === 1 ? 'Last day' : `Last ${shown.length} days`;
  return (
    <Box flexDirection="column" width={size.width} flexShrink={0}>
      <Heading
        title={span}
        right={[`${fullDay(date)}: ${figure}`, `${shortDay(date)}: ${inFull(count)}`, inFull(count)]}
        isInUse={isInUse}
        width={size.width}
        glyphs={glyphs}
      />
      {shown.every((day) => day.count === 0) ? (
        <Nobody rows={size.bars} width={size.width} days={shown.length} />
      ) : (
        rows.map((line, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place.
          <Text key={row}>
            <Text dimColor>{`${marks[row].padStart(axis - 1)} `}</Text>
            <Text color="cyan">{line.slice(0, from)}</Text>
            <Text bold>{line.slice(from, to)}</Text>
            <Text color="cyan">{line.slice(to)}</Text>
          </Text>
        ))
      )}
      <Ground width={width} mark={from + Math.floor((plot.bar - 1) / 2)} label={`${scale(0).padStart(axis - 1)} `} glyphs={glyphs} />
      {size.labels === 2 && (
        <Labels
          axis={axis}
          line={labelLine(
            plot,
            width,
            parts.map(({ weekday }) => weekday.slice(0, letters)),
            at,
          )}
        />
      )}
      <Labels
        axis={axis}
        line={labelLine(
          plot,
          width,
          parts.map(({ day }) => day),
          at,
        )}
      />
    </Box>
  );
}

function Nobody({ rows, width, days }: { rows: number; width: number; days: number }) {
  return (
    <Box height={rows} width={width} alignItems="center" justifyContent="center">
      <Text wrap="truncate">{days === 1 ? 'No sign-ins today.' : `No sign-ins in ${days} days.`}</Text>
    </Box>
  );
}

/** The line that the bars stand on: where there is nothing above it, nobody signed in. */
function Ground({ width, mark, label, glyphs }: { width: number; mark: number; label: string; glyphs: Glyphs }) {
  return (
    <Text>
      <Text dimColor>{label + glyphs.ground.repeat(mark)}</Text>
      <Text bold>{glyphs.under}</Text>
      <Text dimColor>{glyphs.ground.repeat(Math.max(0, width - mark - 1))}</Text>
    </Text>
  );
}

function Labels({ axis, line: { text, from, to } }: { axis: number; line: LabelLine }) {
  return (
    <Text>
      {' '.repeat(axis) + text.slice(0, from)}
      <Text inverse>{text.slice(from, to)}</Text>
      {text.slice(to)}
    </Text>
  );
}
