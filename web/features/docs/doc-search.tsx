import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { MAX_DOCS_SEARCH } from '../../../contract/limits.ts';
import { api, errorText } from '../../lib/api.ts';
import { SearchIcon } from '../../ui/icons.tsx';

type Hits = Output<'searchDocs'>;

/** After the last key. */
const DELAY_MS = 150;

/** Searches the documentation while one types. The results cover the page, so that nothing moves; the arrow keys go through them. */
export function DocSearch() {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<{ hits: Hits; failure?: string } | null>(null);
  const [isOpen, setOpen] = useState(false);
  const q = query.trim();

  useEffect(() => {
    if (q === '') return setFound(null);
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setFound({ hits: await api.searchDocs({ q }, { signal: stop.signal }) });
      } catch (error) {
        if (!stop.signal.aborted) setFound({ hits: [], failure: errorText(error, 'The search did not work.') });
      }
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [q]);

  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      field.current?.focus();
      setOpen(false);
    }
    if (!step) return;
    const stops = [field.current, ...(list.current?.querySelectorAll('a') ?? [])];
    const next = stops[stops.indexOf(document.activeElement as HTMLAnchorElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };

  const hits = found?.hits ?? [];
  const text =
    found && (found.failure ?? (hits.length === 0 ? 'Nothing found.' : hits.length === 1 ? '1 section' : `${hits.length} sections`));
  return (
    <search
      className="relative block"
      onKeyDown={move}
      onBlur={({ currentTarget, relatedTarget }) => !currentTarget.contains(relatedTarget as Node | null) && setOpen(false)}
    >
      <label htmlFor={id} className="sr-only">
        Search the documentation
      </label>
      <SearchIcon className="pointer-events-none absolute top-3.5 left-3 size-4 text-muted" />
      <input
        ref={field}
        id={id}
        type="search"
        autoComplete="off"
        spellCheck={false}
        maxLength={MAX_DOCS_SEARCH}
        placeholder="Search the documentation"
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        className="block h-11 w-full min-w-0 rounded-control border border-edge/60 bg-panel pr-3 pl-9 text-base outline-offset-0 hover:border-edge"
      />
      <p role="status" className="sr-only">
        {isOpen && text}
      </p>
      {isOpen && found && (
        <div className="absolute inset-x-0 top-full z-30 mt-1 max-h-[min(28rem,70dvh)] overflow-y-auto overscroll-contain rounded-panel border border-line bg-panel p-1 shadow-raised">
          {hits.length === 0 && (
            <p aria-hidden="true" className="px-3 py-2.5 text-sm text-muted">
              {text}
            </p>
          )}
          <ul ref={list}>
            {hits.map(({ title, heading, excerpt, url }) => (
              <li key={url}>
                <a
                  href={url}
                  onClick={() => setOpen(false)}
                  className="block rounded-control px-3 py-2 -outline-offset-2 hover:bg-sunk focus:bg-sunk"
                >
                  <span className="text-[0.9375rem] font-medium">{heading}</span>
                  {heading !== title && <span className="text-[0.8125rem] text-muted"> · {title}</span>}
                  <span className="line-clamp-2 text-[0.8125rem] leading-5 text-muted wrap-anywhere">{excerpt}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </search>
  );
}
