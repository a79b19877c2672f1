import { useConnection } from '../lib/connection.ts';
import { Spinner } from '../ui/spinner.tsx';

const words = {
  offline: { title: 'You are offline', text: 'This page goes on by itself once you are back.' },
  unavailable: { title: 'The service does not answer', text: 'Trying again every few seconds. What you typed is kept.' },
};

/** Lies over the page while the service cannot be used. Its live region is always there, or a screen reader would miss it. */
export function ConnectionBanner() {
  const connection = useConnection();
  const said = connection === 'good' ? null : words[connection];
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 bottom-4 z-40 sm:right-auto sm:w-96">
      {said && (
        <div className="rise flex items-start gap-3 rounded-panel border border-edge bg-panel px-4 py-3 text-sm shadow-raised">
          <span className="grid h-5 w-4 shrink-0 place-items-center text-muted">
            {connection === 'offline' ? <span className="size-2 rounded-full bg-edge" /> : <Spinner />}
          </span>
          <p>
            <span className="font-medium">{said.title}</span>
            <span className="mt-0.5 block text-muted">{said.text}</span>
          </p>
        </div>
      )}
    </div>
  );
}
