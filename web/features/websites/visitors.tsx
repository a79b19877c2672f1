import { useEffect, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { api, errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { downloadCsv, saveFile } from '../../lib/save-file.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import type { Website } from './website.ts';

export type Visitor = Output<'listVisitors'>['visitors'][number];

/** Loads all visitors of a website, or one of them. @param onProgress receives their number so far @throws ApiError */
async function loadVisitors(
  id: string,
  email: string | undefined,
  signal: AbortSignal,
  onProgress: (count: number) => void = () => {},
): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  for (let after: string | undefined; ; ) {
    const { visitors: more, next } = await api.exportVisitors({ id, email, after }, { signal });
    visitors.push(...more);
    onProgress(visitors.length);
    if (next === null) return visitors;
    after = next;
  }
}

const HEAD = ['email', 'first sign-in', 'last sign-in', 'by email', 'remembered', 'by OpenID Connect'];
const rowOf = ({ email, firstAt, lastAt, byEmail, remembered, openid }: Visitor) => [email, firstAt, lastAt, byEmail, remembered, openid];

/** Saves all visitors as CSV or JSON, or one of them as JSON. A second click cancels. */
export function VisitorsExport({ website, email }: { website: Website; email?: string }) {
  const [count, setCount] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const save = async (format: 'csv' | 'json') => {
    const own = new AbortController();
    stop.current = own;
    setCount(0);
    try {
      const visitors = await loadVisitors(website.id, email, own.signal, setCount);
      const name = `visitors-${website.domain}`;
      if (format === 'csv') downloadCsv(`${name}.csv`, [HEAD, ...visitors.map(rowOf)]);
      else saveFile(`${name}.json`, 'application/json', `${JSON.stringify(visitors, null, 2)}\n`);
      toast('Visitors exported', email ?? `${visitors.length.toLocaleString('en')} ${visitors.length === 1 ? 'address' : 'addresses'}`);
    } catch (error) {
      if (!own.signal.aborted) toastFailure('The visitors were not exported', errorText(error, 'Try again.'));
    } finally {
      setCount(null);
    }
  };

  if (email !== undefined)
    return (
      <Button variant="quiet" small aria-label={`Export ${email}`} busy={count !== null} onClick={() => save('json')}>
        Export
      </Button>
    );
  return (
    <div className="flex flex-wrap gap-2">
      {count === null ? (
        <>
          <Button variant="secondary" onClick={() => save('csv')}>
            Export CSV
          </Button>
          <Button variant="secondary" onClick={() => save('json')}>
            Export JSON
          </Button>
        </>
      ) : (
        <Button variant="secondary" onClick={() => stop.current?.abort()}>
          Cancel export
        </Button>
      )}
      <span role="status" className="sr-only">
        {count !== null && `Exporting, ${count.toLocaleString('en')} addresses`}
      </span>
    </div>
  );
}

/** Asks before it erases a visitor. */
export function EraseDialog({ website, email, onClose }: { website: Website; email: string; onClose: () => void }) {
  const erase = useAct('eraseVisitor', { refreshes: ['listVisitors'] });
  return (
    <ConfirmDialog
      title={`Erase ${email}`}
      action="Erase"
      failure="The address could not be erased."
      mutation={erase}
      input={{ id: website.id, email }}
      done={['Visitor erased', email]}
      onClose={onClose}
    >
      The address leaves this list, and the log shows “erased” in its place. Its open sign-ins, unused tokens and OpenID Connect grants at{' '}
      {website.displayDomain} end. Sessions and data on your own website are not affected: erase them there. This cannot be undone.
    </ConfirmDialog>
  );
}
