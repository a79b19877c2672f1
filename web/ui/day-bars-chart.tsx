import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';

/** One day of a chart; `date` as YYYY-MM-DD. */
export type Day = { date: string; count: number };

const label = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const shortDay = (date: string) => label.format(new Date(`${date}T00:00:00Z`));
const short = new Intl.NumberFormat('en', { notation: 'compact' });
const tick = { fill: 'var(--color-muted)', fontSize: 12 };

/** The chart of DayBars. */
export function DayBarsChart({ unit, days }: { unit: string; days: Day[] }) {
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart data={days} margin={{ top: 4, right: 0, bottom: 0, left: 0 }} accessibilityLayer={false}>
        <CartesianGrid vertical={false} stroke="var(--color-line)" />
        <XAxis dataKey="date" tickFormatter={shortDay} tick={tick} tickLine={false} axisLine={false} minTickGap={24} />
        <YAxis
          allowDecimals={false}
          tickFormatter={(count) => short.format(count)}
          tick={tick}
          tickLine={false}
          axisLine={false}
          width={36}
        />
        <Tooltip
          cursor={{ fill: 'var(--color-sunk)' }}
          isAnimationActive={false}
          content={({ active, payload }) =>
            active && payload?.[0] ? (
              <p className="rounded-control border border-line bg-panel px-3 py-2 text-sm shadow-raised">
                <span className="text-muted">{shortDay(String(payload[0].payload.date))}</span>{' '}
                <span className="font-medium tabular-nums">
                  {payload[0].payload.count.toLocaleString('en')} {payload[0].payload.count === 1 ? unit.replace(/s$/, '') : unit}
                </span>
              </p>
            ) : null
          }
        />
        <Bar dataKey="count" fill="var(--color-accent)" radius={[3, 3, 0, 0]} maxBarSize={36} isAnimationActive={false} />
      </BarChart>
    </ResponsiveContainer>
  );
}
