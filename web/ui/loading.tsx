import { Spinner } from './spinner.tsx';

/** A page that does not know yet what it is. */
export function Loading() {
  return (
    <p role="status" data-loading className="flex grow items-center justify-center gap-2.5 py-24 text-muted">
      <Spinner />
      Loading...
    </p>
  );
}
