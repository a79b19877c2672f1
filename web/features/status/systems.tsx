import { Skeleton } from '../../ui/skeleton.tsx';
import { StatusDot } from '../../ui/status-dot.tsx';
import type { Status } from './queries.ts';
import { components, states } from './words.ts';

const parts = ['database', 'mail', 'response'] as const;
const soon = ['Analytics Service', 'Bug Reporting Service'];

/** The services and, under the one that runs, what is measured of it. @param status undefined: not known */
export function Systems({ status, unknown }: { status: Status | undefined; unknown: boolean }) {
  const dot = (state: Status['state'] | undefined) => {
    if (unknown) return <StatusDot tone="off">Not known</StatusDot>;
    return state ? <StatusDot tone={states[state].tone}>{states[state].word}</StatusDot> : <Skeleton className="h-5 w-24" />;
  };
  return (
    <ul className="divide-y divide-line rounded-panel border border-line bg-panel">
      <li className="px-4 py-4 sm:px-5">
        <div className="flex items-center justify-between gap-4">
          <h3 className="font-medium">Authentication Service</h3>
          {dot(status?.state)}
        </div>
        <ul className="mt-3 grid gap-2 border-l border-line pl-4">
          {parts.map((id) => (
            <li key={id} className="flex items-center justify-between gap-4 text-sm">
              <p className="min-w-0">
                {components[id].name} <span className="text-muted max-sm:hidden">· {components[id].about}</span>
              </p>
              {dot(status?.components.find((component) => component.id === id)?.state)}
            </li>
          ))}
        </ul>
      </li>
      {soon.map((name) => (
        <li key={name} className="flex items-center justify-between gap-4 px-4 py-4 sm:px-5">
          <h3 className="font-medium">{name}</h3>
          <StatusDot tone="off">Coming Soon</StatusDot>
        </li>
      ))}
    </ul>
  );
}
