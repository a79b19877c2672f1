import { Bar, BarChart, CartesianGrid, Cell, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';

/** One part of each bar of a chart. `color`: a custom property of the theme. */
export type Series<Key extends string> = { key: Key; label: string; color: string };

/** The days of a chart, oldest first; `date` as YYYY-MM-DD in UTC. */
export type DaysProps<Key extends string> = { series: readonly Series<Key>[]; days: readonly ({ date: string } & Record<Key, number>)[] };

const label = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const shortDay = (date: string) => label.format(new Date(`${date}T00:00:00Z`));
const short = new Intl.NumberFormat('en', { notation: 'compact' });
// At a fixed interval, recharts measures no label, which saves a fifth of the time to draw the chart.
const MAX_LABELS = 5;
const tick = { fill: 'var(--color-muted)', fontSize: 12 };

/** The chart of DayBars. @param today the day that is not over, whose bar is hatched */
export function DayBarsChart<Key extends string>({ series, days, today }: DaysProps<Key> & { today: string }) {
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart data={[...days]} margin={{ top: 8, right: 0, bottom: 0, left: 0 }} accessibilityLayer={false}>
        <defs>
          {series.map(({ key, color }) => (
            <Hatching key={key} id={`so-far-${key}`} color={color} />
          ))}
        </defs>
        <CartesianGrid vertical={false} stroke="var(--color-line)" />
        <XAxis
          dataKey="date"
          tickFormatter={shortDay}
          tick={tick}
          tickLine={false}
          axisLine={false}
          interval={Math.max(0, Math.ceil(days.length / MAX_LABELS) - 1)}
        />
        <YAxis
          allowDecimals={false}
          tickFormatter={(count) => short.format(count)}
          tick={tick}
          tickLine={false}
          axisLine={false}
          width={36}
          interval={0}
        />
        <Tooltip
          cursor={{ fill: 'var(--color-sunk)' }}
          isAnimationActive={false}
          content={({ active, payload }) => {
            const day = active && payload?.[0]?.payload;
            return day ? <DayNote day={day} series={series} isSoFar={day.date === today} /> : null;
          }}
        />
        {series.map(({ key, color }) => (
          <Bar
            key={key}
            dataKey={key}
            stackId="day"
            fill={`var(${color})`}
            radius={series.length === 1 ? [3, 3, 0, 0] : 0}
            maxBarSize={36}
            isAnimationActive={false}
          >
            {days.map(({ date }) => (
              <Cell key={date} fill={date === today ? `url(#so-far-${key})` : `var(${color})`} />
            ))}
          </Bar>
        ))}
      </BarChart>
    </ResponsiveContainer>
  );
}

/** The pattern of a bar whose count still grows, in a color of the theme. */
const Hatching = ({ id, color }: { id: string; color: string }) => (
  <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect width="6" height="6" fill={`var(${color})`} fillOpacity="0.25" />
    <rect width="2" height="6" fill={`var(${color})`} />
  </pattern>
);

type NoteProps<Key extends string> = { day: DaysProps<Key>['days'][number]; series: readonly Series<Key>[]; isSoFar: boolean };

function DayNote<Key extends string>({ day, series, isSoFar }: NoteProps<Key>) {
  return (
    <div className="rounded-control border border-line bg-panel px-3 py-2 text-sm shadow-raised">
      <p className="text-muted">
        {shortDay(day.date)}
        {isSoFar && ', so far'}
      </p>
      {series.map(({ key, label }) => (
        <p key={key} className="flex justify-between gap-4">
          {label} <span className="font-medium tabular-nums">{day[key].toLocaleString('en')}</span>
        </p>
      ))}
    </div>
  );
}
