import { Box, Text } from 'ink';
import { type Day, formatCount } from '../login-stats.ts';
import { dayParts, firstFitting, formatShort, fullDay, type Glyphs, shortDay } from './words.ts';

type ChartProps = {
  /** Newest first. */
  days: readonly Day[];
  chosen: number;
  isFocused: boolean;
  size: { width: number; bars: number; labels: 1 | 2 };
  glyphs: Glyphs;
};

/** Bars of the last days, oldest at the left, with the count of the chosen day above. */
export function Chart({ days, chosen, isFocused, size, glyphs }: ChartProps) {
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

/** A shorter bar is left out. */
const MIN_BAR = 4;

type DayListProps = {
  /** Newest first. */
  days: readonly Day[];
  first: number;
  chosen: number;
  isFocused: boolean;
  size: { width: number; rows: number };
  glyphs: Glyphs;
};

/** One line for each day, as many as fit. */
export function DayList({ days, first, chosen, isFocused, size, glyphs }: DayListProps) {
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

type HeadingProps = { title: string; right: readonly string[]; isFocused: boolean; width: number; glyphs: Glyphs };

/** The heading of a pane, marked when it has the focus, with its main value at the right. @param props.right longer texts first */
function Heading({ title, right, isFocused, width, glyphs }: HeadingProps) {
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

/** The position of the bars: the column at which each begins, and their common width. */
type Plot = { starts: number[]; bar: number; slot: number };

/** The minimum width of a bar with its gap. */
const MIN_SLOT = 2;
const MAX_BAR = 10;

/** Distributes bars over the whole width. */
export function plotOf(days: number, width: number): Plot {
  const slot = Math.floor(width / days);
  const bar = Math.max(1, Math.min(slot - Math.max(1, Math.round(slot / 4)), MAX_BAR));
  // The last bar ends at the right edge.
  const starts = Array.from({ length: days }, (_, i) => (days === 1 ? 0 : Math.floor((i * (width - bar)) / (days - 1))));
  return { starts, bar, slot };
}

const SCALES = [10, 12, 16, 20, 30, 40, 50, 60, 80];

/** Returns the top of a scale: a round number not below the maximum, whose half is an integer. */
export function scaleTop(max: number): number {
  if (max <= 8) return Math.max(2, Math.ceil(max / 2) * 2);
  for (let power = 1; ; power *= 10) {
    const step = SCALES.find((each) => max <= each * power);
    if (step) return step * power;
  }
}

/** Returns how far the cells of a bar are filled, topmost first, in eighths from below. A count above zero is always visible. */
export function cellsOf(count: number, top: number, height: number): number[] {
  const eighths = count === 0 ? 0 : Math.max(1, Math.round((count / top) * height * 8));
  return Array.from({ length: height }, (_, row) => Math.min(8, Math.max(0, eighths - (height - 1 - row) * 8)));
}

/** Returns the length of a horizontal bar, in halves of a cell. A count above zero is always visible. */
export function halvesOf(count: number, max: number, width: number): number {
  return count === 0 || width < 1 ? 0 : Math.max(1, Math.round((count / max) * width * 2));
}

/** A line of labels below the bars, and the position of the chosen one. */
type LabelLine = { text: string; from: number; to: number };

/**
 * Returns labels below their bars: all of them, or every second or third counted from the last one where more do not fit. The
 * chosen one is always there, as wide as its bar, and no other label touches it.
 * @param texts one for each bar, all of the same length
 */
export function labelLine({ starts, bar, slot }: Plot, width: number, texts: readonly string[], chosen: number): LabelLine {
  const length = texts[0].length;
  const labelWidth = Math.max(length, bar);
  const places = starts.map((start) => Math.max(0, Math.min(width - labelWidth, start + Math.ceil((bar - labelWidth) / 2))));
  const step = Math.ceil((length + 1) / slot);
  const line = Array.from({ length: width }, () => ' ');
  for (const [i, place] of places.entries()) {
    const isFree = Math.abs(place - places[chosen]) > length;
    if (i !== chosen && !((places.length - 1 - i) % step === 0 && isFree)) continue;
    line.splice(place + Math.floor((labelWidth - length) / 2), length, ...texts[i]);
  }
  return { text: line.join(''), from: places[chosen], to: places[chosen] + labelWidth };
}
