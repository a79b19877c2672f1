import { Skeleton } from '../../ui/skeleton.tsx';
import type { Figures } from './stats.ts';

/** A website's sign-ins of the last 30 days in one line. @param figures undefined: not loaded yet @param failed they could not be loaded */
export function WebsiteStats({ figures, failed = false }: { figures: Figures | undefined; failed?: boolean }) {
  if (!figures) {
    if (failed) return <p className="text-[0.8125rem] leading-5 text-muted">The sign-in figures could not be loaded.</p>;
    return (
      <p role="status" aria-label="Loading figures" className="flex h-5 items-center">
        <Skeleton className="h-3 w-64 max-w-full" />
      </p>
    );
  }
  const { sent, opened, completed, again, medianSeconds } = figures;
  if (sent + opened + completed + again === 0)
    return <p className="text-[0.8125rem] leading-5 text-muted">No sign-ins yet. They are counted here from the first mail on.</p>;
  return (
    <dl aria-label="Sign-ins of the last 30 days" className="flex flex-wrap gap-x-4 gap-y-0.5 text-[0.8125rem] leading-5">
      <Figure label="Sent" value={sent.toLocaleString('en')} />
      <Figure label="Opened" value={opened.toLocaleString('en')} />
      <Figure label="Completed" value={completed.toLocaleString('en')} />
      <Figure label="Remembered" value={again.toLocaleString('en')} />
      {medianSeconds !== null && <Figure label="Median time" value={durationOf(medianSeconds)} />}
      <div className="text-muted">
        <dt className="sr-only">Period</dt>
        <dd>last 30 days</dd>
      </div>
    </dl>
  );
}

const Figure = ({ label, value }: { label: string; value: string }) => (
  <div className="flex gap-1.5 whitespace-nowrap">
    <dt className="text-muted">{label}</dt>
    <dd className="font-medium tabular-nums">{value}</dd>
  </div>
);

/** `14 s`, `2 min 5 s`. */
function durationOf(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes === 0) return `${rest} s`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
