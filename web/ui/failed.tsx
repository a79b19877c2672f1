import { wordsOf } from '../lib/failure.ts';
import { Alert } from './alert.tsx';
import { Button } from './button.tsx';

/** Something that could not be loaded, in words, with a way to try again. It takes the `error`, `isFetching` and `refetch` of a query. */
export function Failed({
  error,
  fallback,
  isFetching,
  refetch,
}: {
  error: unknown;
  fallback: string;
  isFetching: boolean;
  refetch: () => unknown;
}) {
  return (
    <div className="grid gap-3">
      <Alert>{wordsOf(error, fallback)}</Alert>
      <Button look="secondary" className="justify-self-start" busy={isFetching} onClick={() => refetch()}>
        Try again
      </Button>
    </div>
  );
}
