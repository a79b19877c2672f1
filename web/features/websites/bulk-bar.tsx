import { useEffect, useId, useRef, useState } from 'react';
import { MAX_LIST_PAGE } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import { api, errorText } from '../../lib/api.ts';
import type { ListState } from '../../lib/queries.ts';
import { downloadCsv } from '../../lib/save-file.ts';
import { Button } from '../../ui/button.tsx';
import { DownloadIcon } from '../../ui/icons.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { DeleteManyDialog, VerifyManyDialog } from './bulk-dialogs.tsx';
import type { Website } from './website.ts';

type Props = {
  state: ListState;
  found: Output<'searchWebsites'>;
  /** By id; also of other pages. */
  selected: ReadonlyMap<string, Website>;
  onSelect: (websites: readonly Website[], isSelected: boolean) => void;
  onClear: () => void;
};

/** Selects the websites of the page or all that were found, and acts on those that are selected. */
export function BulkBar({ state, found, selected, onSelect, onClear }: Props) {
  const [open, setOpen] = useState<'delete' | 'verify' | null>(null);
  const [busy, setBusy] = useState<'all' | 'csv' | null>(null);
  const box = useId();
  const chosen = [...selected.values()];
  const onPage = found.websites.filter(({ id }) => selected.has(id)).length;
  const close = () => setOpen(null);

  /** Runs what needs all pages of the list. */
  const withAll = async (what: 'all' | 'csv', use: (websites: Output<'searchWebsites'>['websites']) => void) => {
    setBusy(what);
    try {
      use(await fetchAll(state));
    } catch (error) {
      toastFailure('The websites could not be loaded', errorText(error, 'Try again.'));
    }
    setBusy(null);
  };
  const exportCsv = () =>
    withAll('csv', (all) => {
      const rows = selected.size > 0 ? all.filter(({ id }) => selected.has(id)) : all;
      downloadCsv('websites.csv', tableOf(rows));
    });

  return (
    <section
      aria-label="Selection"
      className="mb-3 flex min-h-13 flex-wrap items-center gap-x-1 rounded-panel border border-line bg-panel py-1 pr-2 pl-1 text-sm sm:pl-2"
    >
      <label htmlFor={box} className="flex min-h-11 cursor-pointer items-center pr-2">
        <span className="grid w-11 place-items-center">
          <PageCheckbox
            id={box}
            state={onPage === 0 ? 'none' : onPage === found.websites.length ? 'all' : 'some'}
            onChange={(isSelected) => onSelect(found.websites, isSelected)}
          />
        </span>
        {selected.size === 0 ? 'Select all on this page' : `${selected.size.toLocaleString('en')} selected`}
      </label>
      {selected.size > 0 && selected.size < found.total && onPage === found.websites.length && (
        <Button variant="quiet" small busy={busy === 'all'} onClick={() => withAll('all', (all) => onSelect(all, true))}>
          Select all {found.total.toLocaleString('en')}
        </Button>
      )}
      {selected.size > 0 && (
        <Button variant="quiet" small onClick={onClear}>
          Clear
        </Button>
      )}
      <div className="ml-auto flex flex-wrap">
        {selected.size > 0 && (
          <>
            <Button variant="quiet" small onClick={() => setOpen('verify')} disabled={chosen.every(({ verified }) => verified)}>
              Verify
            </Button>
            <Button variant="quiet" small onClick={() => setOpen('delete')} className="hover:text-danger">
              Delete
            </Button>
          </>
        )}
        <Button variant="quiet" small busy={busy === 'csv'} onClick={exportCsv}>
          {busy !== 'csv' && <DownloadIcon />}
          <span className="max-sm:sr-only">Export CSV</span>
        </Button>
      </div>
      {open === 'delete' && <DeleteManyDialog websites={chosen} onDeleted={(deleted) => onSelect(deleted, false)} onClose={close} />}
      {open === 'verify' && <VerifyManyDialog websites={chosen.filter(({ verified }) => !verified)} onClose={close} />}
    </section>
  );
}

/** Checked, unchecked, or in between when a part of the page is selected. */
function PageCheckbox({ id, state, onChange }: { id: string; state: 'none' | 'some' | 'all'; onChange: (isSelected: boolean) => void }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = state === 'some';
  }, [state]);
  return (
    <input
      ref={box}
      id={id}
      type="checkbox"
      aria-label="Select all on this page"
      checked={state === 'all'}
      onChange={({ target }) => onChange(target.checked)}
      className="size-4 accent-accent"
    />
  );
}

type Listed = Output<'searchWebsites'>['websites'];

/** Returns all websites that a search found, page by page. */
async function fetchAll({ q, sort }: ListState): Promise<Listed> {
  const all = new Map<string, Listed[number]>();
  for (let page = 1; ; page++) {
    const { total, websites } = await api.searchWebsites({ q, sort, page, limit: MAX_LIST_PAGE });
    for (const website of websites) all.set(website.id, website);
    if (page * MAX_LIST_PAGE >= total) return [...all.values()];
  }
}

/** Returns the list as rows of a table, with its header. */
function tableOf(websites: Listed): (string | number)[][] {
  const rows = websites.map(({ domain, displayDomain, verified, createdAt, stats }) => {
    const { sent, opened, again, byPasskey, byVerifiedEmail, completed, medianSeconds } = stats;
    const methods = [opened, byPasskey, byVerifiedEmail, again - byPasskey - byVerifiedEmail];
    return [domain, displayDomain, verified ? 'yes' : 'no', createdAt, sent, ...methods, completed, medianSeconds ?? ''];
  });
  const counts = ['emails sent', 'opened', 'passkeys', 'verified emails', 'remembered', 'tokens verified', 'median seconds'].map(
    (name) => `${name} (30 days)`,
  );
  return [['domain', 'displayed as', 'verified', 'added', ...counts], ...rows];
}
