import { useEffect, useState } from 'react';
import { WhenVisible } from './panels.tsx';

const DEBOUNCE_MS = 400;

/**
 * Shows a document of the service that changes with an input. The next one loads behind the current one, in a new frame: a new address
 * in the same frame would add an entry to the history of the browser.
 * @param address null: the input is not valid, and the last document stays
 * @param ownStyles the document has a style sheet of this origin
 */
export function PreviewFrame({ address, title, ownStyles = false }: { address: string | null; title: string; ownStyles?: boolean }) {
  const wanted = useDebounced(address);
  const [shown, setShown] = useState<string | null>(null);
  const frames = [...new Set([shown, wanted])].filter((each) => each !== null);
  return (
    <WhenVisible className="relative mt-3 h-[44rem] overflow-hidden rounded-panel border border-line bg-sunk">
      {frames.map((each) => (
        <iframe
          key={each}
          src={each}
          title={title}
          // A document in an opaque origin may load nothing of this one. No script runs in either.
          sandbox={ownStyles ? 'allow-same-origin' : ''}
          aria-hidden={each === wanted ? undefined : true}
          onLoad={() => setShown(each)}
          className={`absolute inset-0 size-full ${each === shown ? '' : 'opacity-0'}`}
        />
      ))}
    </WhenVisible>
  );
}

/** Returns the latest value that is not null, once it has not changed for a while; the first one at once. */
function useDebounced(value: string | null): string | null {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    if (value === null) return;
    const timer = setTimeout(() => setDebounced(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}
