import { cx } from './cx.ts';

const [WIDTH, HEIGHT, MARGIN] = [72, 22, 2];

/** A small line of counts per day, beside their number, which screen readers get. The way to the last day is dashed: it is not over. */
export function Sparkline({ days }: { days: readonly number[] }) {
  const max = Math.max(1, ...days);
  const points = days.map((count, index) => {
    const x = MARGIN + (index * (WIDTH - 2 * MARGIN)) / (days.length - 1);
    const y = HEIGHT - MARGIN - (count * (HEIGHT - 2 * MARGIN)) / max;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const isEmpty = days.every((count) => count === 0);
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={cx('shrink-0', isEmpty ? 'text-line' : 'text-accent')}
    >
      <polyline points={points.slice(0, -1).join(' ')} />
      <polyline points={points.slice(-2).join(' ')} strokeDasharray="1 3" />
    </svg>
  );
}
