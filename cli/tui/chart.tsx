import { Box, Text } from 'ink';
import { type Day, formatCount } from '../stats.ts';
import { cellsOf, type LabelLine, labelLine, MIN_SLOT, plotOf, scaleTop } from './bars.ts';
import { Heading } from './chrome.tsx';
import type { Glyphs } from './glyphs.ts';
import { dayParts, formatShort, fullDay, shortDay } from './words.ts';

type Props = {
  /** Newest first. */
  days: readonly Day[];
  chosen: number;
  isFocused: boolean;
  size: { width: number; bars: number; labels: 1 | 2 };
  glyphs: Glyphs;
};

/** Bars of the last days, oldest at the left, with the count of the chosen day above. */
export function Chart({ days, chosen, isFocused, size, glyphs }: Props) {
  const top = scaleTop(Math.max(...days.map(({ count }) => count)));
  const scale = (count: number) => (top < 100_000 ? formatCount(count) : formatShort(count));
  const axis = scale(top).length + 1;
  const width = size.width - axis;
  // Where not all fit, the days around the chosen one are shown.
  const maxBars = Math.max(1, Math.min(days.length, Math.floor((width + 1) / MIN_SLOT)));
  const skipped = Math.max(0, chosen - maxBars + 1);
  const shown = days.slice(skipped, skipped + maxBars).reverse();
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
  const countText = `${formatCount(count)} ${count === 1 ? 'sign-in' : 'sign-ins'}`;
  const span = days.length === 1 ? 'Last day' : `Last ${shown.length} days`;
  return (
    <Box flexDirection="column" width={size.width} flexShrink={0}>
      <Heading
        title={span}
        right={[`${fullDay(date)}: ${countText}`, `${shortDay(date)}: ${formatCount(count)}`, formatCount(count)]}
        isFocused={isFocused}
        width={size.width}
        glyphs={glyphs}
      />
      {shown.every((day) => day.count === 0) ? (
        <NoSignIns rows={size.bars} width={size.width} days={shown.length} />
      ) : (
        rows.map((line, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index identifies a row.
          <Text key={row}>
            <Text dimColor>{`${marks[row].padStart(axis - 1)} `}</Text>
            <Text color="cyan">{line.slice(0, from)}</Text>
            <Text bold>{line.slice(from, to)}</Text>
            <Text color="cyan">{line.slice(to)}</Text>
          </Text>
        ))
      )}
      <Axis width={width} mark={from + Math.floor((plot.bar - 1) / 2)} label={`${scale(0).padStart(axis - 1)} `} glyphs={glyphs} />
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

function NoSignIns({ rows, width, days }: { rows: number; width: number; days: number }) {
  return (
    <Box height={rows} width={width} alignItems="center" justifyContent="center">
      <Text wrap="truncate">{days === 1 ? 'No sign-ins today.' : `No sign-ins in ${days} days.`}</Text>
    </Box>
  );
}

/** The line below the bars, also below days without sign-ins. */
function Axis({ width, mark, label, glyphs }: { width: number; mark: number; label: string; glyphs: Glyphs }) {
  return (
    <Text>
      <Text dimColor>{label + glyphs.axis.repeat(mark)}</Text>
      <Text bold>{glyphs.mark}</Text>
      <Text dimColor>{glyphs.axis.repeat(Math.max(0, width - mark - 1))}</Text>
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
