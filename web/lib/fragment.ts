import { useEffect } from 'react';
import { useLocationProperty } from 'wouter/use-browser-location';

/**
 * Scrolls to the element that the fragment of the address names and focuses it, once the list that contains it is rendered: the
 * browser looks for it when nothing is loaded yet.
 */
export function useFragment(isRendered: boolean) {
  const hash = useLocationProperty(() => location.hash);
  useEffect(() => {
    const element = isRendered && hash ? document.getElementById(hash.slice(1)) : null;
    element?.scrollIntoView({ block: 'center' });
    element?.focus({ preventScroll: true });
  }, [isRendered, hash]);
}
