import { useEffect, useRef, useState } from 'react';
import type { Output } from '../../../contract/routes.ts';
import { type ListState, listPath, PAGE_SIZE, sorts } from '../../lib/websites-list.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Select } from '../../ui/field.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Rows } from '../../ui/panels.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Empty } from '../../ui/states.tsx';
import { BulkBar } from './bulk-bar.tsx';
import type { Website } from './queries.ts';
import { type RowActions, WebsiteRow } from './website-row.tsx';

/** With fewer websites, there is nothing to search, sort or select. */
const MIN_FOR_TOOLS = 6;

type Props = RowActions & {
  state: ListState;
  found: Output<'searchWebsites'>;
  /** The rows are those of the state before. */
  busy: boolean;
  onShow: (change: Partial<ListState>, replace?: boolean) => void;
};

/** One page of the websites, with what is needed for many: search, order, selection and pages. */
export function WebsiteList({ state, found, busy, onShow, ...actions }: Props) {
  const { total, page, websites } = found;
  const [selected, setSelected] = useState<ReadonlyMap<string, Website>>(new Map());
  const top = useScrollToTop(page);
  const hasTools = total >= MIN_FOR_TOOLS || state.q !== '';
  const select = (chosen: readonly Website[], isSelected: boolean) => {
    const next = new Map(selected);
    for (const website of chosen) isSelected ? next.set(website.id, website) : next.delete(website.id);
    setSelected(next);
  };
  return (
    <div ref={top} className="scroll-mt-4">
      {hasTools && (
        <div className="mb-3 grid gap-3 sm:grid-cols-[1fr_12rem]">
          <SearchField label="Search websites" value={state.q} onSearch={(q) => onShow({ q }, true)} />
          <Select
            label="Order"
            hideLabel
            value={state.sort}
            options={sorts}
            onChange={({ target }) => onShow({ sort: target.value as ListState['sort'] })}
          />
        </div>
      )}
      {hasTools && total > 0 && (
        <BulkBar state={state} found={found} selected={selected} onSelect={select} onClear={() => setSelected(new Map())} />
      )}
      <p role="status" className="sr-only">
        {countOf(found)}
      </p>
      {total === 0 ? (
        <Empty title="No website found" text={`None of your websites has “${state.q}” in its domain.`}>
          <Button variant="secondary" onClick={() => onShow({ q: '' })}>
            Show all websites
          </Button>
        </Empty>
      ) : (
        <div aria-busy={busy} className={cx('transition-opacity', busy && 'opacity-60')}>
          <Rows>
            {websites.map((website) => (
              <WebsiteRow
                key={website.id}
                website={website}
                selected={hasTools ? selected.has(website.id) : undefined}
                onSelect={(isSelected) => select([website], isSelected)}
                {...actions}
              />
            ))}
          </Rows>
          <p className="mt-3 text-[0.8125rem] leading-5 text-muted">
            Counts of the last 30 days. Remembered visitors sign in again without an email, so a website can verify more tokens than emails
            were sent.
          </p>
          <Pager page={page} pages={Math.ceil(total / PAGE_SIZE)} hrefOf={(to) => listPath({ ...state, page: to })} />
        </div>
      )}
    </div>
  );
}

function countOf({ total, page, websites }: Output<'searchWebsites'>): string {
  if (total <= PAGE_SIZE) return total === 1 ? '1 website' : `${total.toLocaleString('en')} websites`;
  const first = (page - 1) * PAGE_SIZE + 1;
  return `Websites ${first.toLocaleString('en')} to ${(first + websites.length - 1).toLocaleString('en')} of ${total.toLocaleString('en')}`;
}

/** Returns a ref to the element that another page of the list is shown from. */
function useScrollToTop(page: number) {
  const element = useRef<HTMLDivElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current === page) return;
    shown.current = page;
    element.current?.scrollIntoView({ block: 'start' });
  }, [page]);
  return element;
}
