import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import type { Pages } from './queries.ts';

/**
 * A list of the admin page, newest first, with its empty, loading and failed states.
 * @param search the text that entries contain, from `useSearch`
 * @param what is listed, as in `Loading websites`
 * @param empty title and text while there is nothing
 * @param row the content of an entry's row
 */
export function Entries<Entry extends { id: string }>({
  title,
  what,
  search,
  pages,
  empty,
  row,
}: {
  title: string;
  what: string;
  search: Search;
  pages: Pages<Entry>;
  empty: { title: string; text: ReactNode };
  row: (entry: Entry) => ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  /** The number of entries when more were requested. */
  const before = useRef<number | null>(null);
  const { data: entries, error, isFetching, isFetchingNextPage, hasNextPage } = pages;

  const count = entries?.length ?? 0;

  // The last page removes the button, so the focus moves to the first new entry.
  useEffect(() => {
    if (before.current === null || count <= before.current) return;
    box.current?.querySelectorAll('li')[before.current].focus();
    before.current = null;
  }, [count]);

  const showMore = () => {
    before.current = count;
    void pages.fetchNextPage();
  };

  return (
    <section>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
        <Button variant="secondary" small busy={isFetching && !isFetchingNextPage} onClick={() => pages.refetch()}>
          Refresh
        </Button>
      </div>
      {(search.q !== '' || count > 0) && (
        <div className="mb-4 max-w-md">
          <SearchField label={`Search ${what}`} value={search.q} onSearch={search.setQ} />
        </div>
      )}
      {!entries && !error && <RowsLoading what={what} rows={6} />}
      {entries?.length === 0 && search.q === '' && <Empty {...empty} />}
      {entries?.length === 0 && search.q !== '' && (
        <p role="status" className="py-6 text-muted wrap-anywhere">
          Nothing in the {what} contains “{search.q}”.
        </p>
      )}
      {entries && entries.length > 0 && (
        <div ref={box}>
          <Rows>
            {entries.map((entry) => (
              <li key={entry.id} tabIndex={-1} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 sm:px-5">
                {row(entry)}
              </li>
            ))}
          </Rows>
        </div>
      )}
      {error && (
        <div className="mt-4">
          <Failed {...pages} fallback={`The ${what} could not be loaded.`} />
        </div>
      )}
      {hasNextPage && !error && (
        <div className="mt-4 flex justify-center">
          <Button variant="secondary" busy={isFetchingNextPage} onClick={showMore}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

type Search = { q: string; setQ: (q: string) => void };

/** The text that is searched in a list. */
export function useSearch(): Search {
  const [q, setQ] = useState('');
  return { q, setQ };
}

/** An id with a copy button. */
export function Id({ id, of }: { id: string; of: string }) {
  return (
    <div className="-mr-3 flex min-w-0 items-center">
      <span className="truncate font-mono text-[0.8125rem] text-muted">{id}</span>
      <CopyButton text={id} what={`the id of ${of}`} notice="Id copied" />
    </div>
  );
}
