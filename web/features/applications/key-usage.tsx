import { DayBars } from '../../ui/day-bars.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { type ApiKey, useApiKeyUsage } from './queries.ts';

/** Calls with a key in 30 UTC days. */
export function KeyUsage({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const query = useApiKeyUsage(apiKey.id);
  const usage = query.data;
  const refused = usage?.days.reduce((sum, day) => sum + day.refused, 0);
  const shown = (count: number | undefined) => count?.toLocaleString('en');
  return (
    <Dialog title={`Usage of ${apiKey.name}`} onClose={onClose}>
      {query.error ? (
        <Failed {...query} fallback="The usage could not be loaded." />
      ) : (
        <div className="grid gap-6">
          <Stats>
            <Stat label="Calls, 30 days" value={shown(usage?.total)} />
            <Stat label="Refused, 30 days" value={shown(refused)} />
          </Stats>
          <DayBars title="Calls per UTC day" unit="calls" days={(usage?.days ?? []).map(({ date, calls }) => ({ date, count: calls }))} />
        </div>
      )}
    </Dialog>
  );
}
