import { useEffect, useRef } from 'react';
import { useSearchParams } from 'wouter';

/** Opens a form that the address asks for, `?add=website` say, and takes that out of the address, so that a reload does not ask again. */
export function useAdd(what: string, open: () => void) {
  const [query, setQuery] = useSearchParams();
  const asked = query.get('add') === what;
  const then = useRef(open);
  then.current = open;
  useEffect(() => {
    if (!asked) return;
    then.current();
    setQuery({}, { replace: true });
  }, [asked, setQuery]);
}
