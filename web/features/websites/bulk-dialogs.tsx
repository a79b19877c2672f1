import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { api } from '../../lib/api.ts';
import { inSeconds } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Website } from './website.ts';

/** Domains that a dialog names. */
const MAX_NAMES = 5;

/** Deletes several websites after their number was typed. */
export function DeleteManyDialog({
  websites,
  onDeleted,
  onClose,
}: {
  websites: readonly Website[];
  onDeleted: (websites: Website[]) => void;
  onClose: () => void;
}) {
  const given = useRef(websites).current;
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const { run, tried, result } = useBulk(given, ({ id }) => api.deleteWebsite({ id }));
  const busy = tried !== null && !result;
  const what = countOf(given.length);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    if (typed.trim() !== String(given.length)) {
      setFault(`Type ${given.length} to confirm`);
      return field.current?.focus();
    }
    const { done, failed, stopped } = await run();
    onDeleted(done);
    if (failed.length > 0 || stopped) return;
    onClose();
    toast('Websites deleted', what);
  };

  return (
    <Dialog title={`Delete ${what}`} first={field} stays={busy} onClose={onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <p className="text-muted">
          Are you sure you want to delete these websites? This action cannot be undone and will remove all email authentication access for
          their domains.
        </p>
        <Names websites={given} />
        {result && (
          <Alert>
            {countOf(result.done.length)} deleted, {given.length - result.done.length} not. {result.stopped ?? namesOf(result.failed)}
          </Alert>
        )}
        {result ? (
          <Button variant="secondary" className="justify-self-end" onClick={onClose}>
            Close
          </Button>
        ) : (
          <>
            <Field
              ref={field}
              label={`Type ${given.length} to confirm`}
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              error={fault}
              readOnly={busy}
              onChange={({ target }) => {
                setTyped(target.value);
                setFault(null);
              }}
            />
            <DialogButtons onCancel={onClose}>
              <Button type="submit" variant="danger" busy={busy}>
                {busy ? `Deleting ${(tried ?? 0) + 1} of ${given.length}...` : `Delete ${what}`}
              </Button>
            </DialogButtons>
          </>
        )}
      </form>
    </Dialog>
  );
}

/** Checks the proofs of several websites, one after the other. */
export function VerifyManyDialog({ websites, onClose }: { websites: readonly Website[]; onClose: () => void }) {
  const given = useRef(websites).current;
  const { run, tried, result } = useBulk(given, ({ domain }) => api.proveWebsite({ domain }));
  const busy = tried !== null && !result;
  return (
    <Dialog title={`Verify ${countOf(given.length)}`} stays={busy} onClose={onClose}>
      <div className="grid gap-5">
        <p className="text-[0.9375rem] text-muted">
          The service looks for the DNS record or the file of each domain. Add them first: the page of a website shows its own.
        </p>
        <Names websites={given} />
        <div role="status">
          {busy && (
            <p className="text-sm">
              Checking {tried + 1} of {given.length}...
            </p>
          )}
          {result && (
            <div className="grid gap-1 text-sm">
              <p>
                <strong className="font-medium">{result.done.length} verified</strong>, {result.failed.length} not found yet
                {result.stopped && `, ${given.length - result.done.length - result.failed.length} not checked`}.
              </p>
              {result.stopped && <p>{result.stopped}</p>}
              {result.failed.length > 0 && <p className="text-muted wrap-anywhere">Not found yet: {namesOf(result.failed)}</p>}
            </div>
          )}
        </div>
        {result ? (
          <Button variant="secondary" className="justify-self-end" onClick={onClose}>
            Close
          </Button>
        ) : (
          <DialogButtons onCancel={onClose}>
            <Button busy={busy} onClick={() => void run()}>
              {busy ? 'Checking...' : 'Check now'}
            </Button>
          </DialogButtons>
        )}
      </div>
    </Dialog>
  );
}

/** Runs an action on each website and refreshes the list at its end. It stops when the dialog is closed. */
function useBulk(websites: readonly Website[], act: (website: Website) => Promise<unknown>) {
  const queries = useQueryClient();
  const [tried, setTried] = useState<number | null>(null);
  const [result, setResult] = useState<BulkResult | null>(null);
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async () => {
    stop.current = new AbortController();
    setTried(0);
    const ended = await forEachWebsite(websites, act, { signal: stop.current.signal, onProgress: setTried });
    setResult(ended);
    await queries.invalidateQueries({ queryKey: ['websites'] });
    return ended;
  };
  return { run, tried, result };
}

const Names = ({ websites }: { websites: readonly Website[] }) => <p className="text-sm font-medium wrap-anywhere">{namesOf(websites)}</p>;

function namesOf(websites: readonly Website[]): string {
  const names = websites.slice(0, MAX_NAMES).map(({ displayDomain }) => displayDomain);
  const more = websites.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more.toLocaleString('en')} more` : names.join(', ');
}

const countOf = (count: number) => (count === 1 ? '1 website' : `${count.toLocaleString('en')} websites`);

/** What came of an action on several websites. `stopped`: why the rest was not tried, as a sentence. */
type BulkResult = { done: Website[]; failed: Website[]; stopped: string | null };

/**
 * Does something with one website after the other, and stops at a rate limit or when the service cannot be reached.
 * @param onProgress gets the number of websites that were tried
 */
async function forEachWebsite(
  websites: readonly Website[],
  act: (website: Website) => Promise<unknown>,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (tried: number) => void },
): Promise<BulkResult> {
  const result: BulkResult = { done: [], failed: [], stopped: null };
  for (const [index, website] of websites.entries()) {
    if (signal.aborted) return { ...result, stopped: 'You stopped it.' };
    try {
      await act(website);
      result.done.push(website);
    } catch (error) {
      const reason = stopReasonOf(error);
      if (reason) return { ...result, stopped: reason };
      result.failed.push(website);
    }
    onProgress(index + 1);
  }
  return result;
}

function stopReasonOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === 'rate_limited') return `The limit of checks is reached. You can continue ${inSeconds(error.retryAfter ?? 60, 'en')}.`;
  if (error.status === 0 || error.status >= 500) return 'The service cannot be reached.';
  return error.code === 'sign_in_needed' ? 'You are not signed in.' : null;
}
