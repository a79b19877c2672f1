import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import type { Output } from '../../contract/calls.ts';
import { timeAgo } from '../lib/dates.ts';
import { websitePath } from '../pages.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { ArrowIcon, BackIcon, DownIcon, PlusIcon } from './icons.tsx';
import { Skeleton } from './states.tsx';

/** A list of rows; its children are `li`. The arrow keys move between them (chrome/shortcuts.tsx). */
export const Rows = ({ children }: { children: ReactNode }) => (
  <ul data-rows className="divide-y divide-line rounded-panel border border-line bg-panel">
    {children}
  </ul>
);

/** A placeholder for Rows. @param what is loaded, for screen readers @param label the whole sentence, in another language */
export function RowsLoading({ what = '', label = `Loading ${what}`, rows = 2 }: { what?: string; label?: string; rows?: number }) {
  return (
    <div role="status" data-loading aria-label={label} className="grid divide-y divide-line rounded-panel border border-line bg-panel">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: identical rows that never move
        <div key={row} className="grid gap-2 px-4 py-5 sm:px-5">
          <Skeleton className="h-4 w-40" />
          <Skeleton className="h-3 w-56 max-w-full" />
        </div>
      ))}
    </div>
  );
}

/** Returns an action of the audit log as words: `API key created`. */
export const wordsOf = (action: string) => action.replaceAll('_', ' ').replace(/\bapi\b/, 'API');

/** An entry of the audit log: what was done to what, and by whom from where. */
export function AuditRow({
  action,
  domain,
  displayDomain,
  manages,
  object,
  actor,
  device,
  network,
  createdAt,
}: Output<'auditLogs'>[number]) {
  const source = [actor && `by ${actor}`, device, network].filter(Boolean).join(' · ');
  return (
    <li className="flex min-h-14 items-center gap-4 px-4 py-3 sm:px-5">
      <div className="min-w-0 grow wrap-anywhere">
        <p>
          <span className="inline-block font-medium first-letter:uppercase">{wordsOf(action)}</span>
          {object && <span className="font-medium">: {object}</span>}
        </p>
        {domain && (
          <p className="font-mono text-[0.8125rem] text-muted">
            <bdi dir="ltr">
              {manages ? (
                <Link href={websitePath(domain)} className="underline underline-offset-4 hover:text-ink">
                  {displayDomain}
                </Link>
              ) : (
                displayDomain
              )}
            </bdi>
          </p>
        )}
        {source && <p className="text-[0.8125rem] text-muted">{source}</p>}
      </div>
      <Moment date={createdAt} />
    </li>
  );
}

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });

/** A relative time, with the exact time as its title. */
function Moment({ date }: { date: string }) {
  const time = Date.parse(date);
  return (
    <time dateTime={date} title={exact.format(time)} className="shrink-0 text-sm text-muted">
      {timeAgo(time, 'en')}
    </time>
  );
}

/** Links to the previous and the next page of a list. Renders nothing when there is one page. @param hrefOf the address of a page */
export function Pager({ page, pages, hrefOf }: { page: number; pages: number; hrefOf: (page: number) => string }) {
  if (pages < 2) return null;
  return (
    <nav aria-label="Pages of the list" className="mt-4 flex items-center justify-between gap-4">
      <PagerLink href={page > 1 ? hrefOf(page - 1) : null}>
        <BackIcon />
        Previous
      </PagerLink>
      <p className="text-sm text-muted tabular-nums">
        Page {page.toLocaleString('en')} of {pages.toLocaleString('en')}
      </p>
      <PagerLink href={page < pages ? hrefOf(page + 1) : null}>
        Next
        <ArrowIcon />
      </PagerLink>
    </nav>
  );
}

const linkStyle = 'flex min-h-11 items-center gap-2 rounded-control px-3 text-sm font-medium';

/** A link of the pager. Without an href it is invisible and keeps its space. */
const PagerLink = ({ href, children }: { href: string | null; children: ReactNode }) =>
  href ? (
    <Link href={href} className={cx(linkStyle, 'hover:bg-sunk')}>
      {children}
    </Link>
  ) : (
    <span aria-hidden="true" className={cx(linkStyle, 'invisible')}>
      {children}
    </span>
  );

/** Says how late statistics are. */
export const CountedEveryMinute = () => <p className="text-sm text-muted">New sign-ins are counted within a minute.</p>;

/** Statistics side by side; its children are `Stat`. */
export const Stats = ({ children }: { children: ReactNode }) => (
  <dl className="flex flex-wrap gap-px overflow-hidden rounded-panel border border-line bg-line">{children}</dl>
);

/** One number with its label. @param value undefined: not loaded yet; null: not enough data yet */
export function Stat({ label, value, note }: { label: string; value: string | null | undefined; note?: string }) {
  return (
    <div className="flex min-w-0 grow basis-40 flex-col gap-1 bg-panel px-5 py-4">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="min-h-8">
        {value === undefined && <Skeleton className="mt-1 h-6 w-16" />}
        {value === null && <span className="text-[0.9375rem] leading-6 text-muted">Not enough data yet</span>}
        {value && <span className="text-2xl font-semibold leading-8 tracking-tight tabular-nums">{value}</span>}
      </dd>
      {note && <dd className="text-[0.8125rem] text-muted">{note}</dd>}
    </div>
  );
}

/** A bordered section that its heading opens and closes. @param open at first */
export function Disclosure({ summary, open, children }: { summary: ReactNode; open?: boolean; children: ReactNode }) {
  return (
    <details open={open} className="group rounded-control border border-line">
      <summary className="flex min-h-11 list-none items-center justify-between gap-3 rounded-control px-4 text-sm font-medium hover:bg-sunk [&::-webkit-details-marker]:hidden">
        {summary}
        <DownIcon className="size-4 shrink-0 text-muted group-open:rotate-180" />
      </summary>
      <div className="border-t border-line">{children}</div>
    </details>
  );
}

/** Renders its children once they come near to the visible part of the page. Use it for what costs much and is often below the first screen. */
export function WhenVisible({ className, children }: { className: string; children: ReactNode }) {
  const [isVisible, setVisible] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setVisible(true), {
      rootMargin: '100px',
    });
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={place} className={className}>
      {isVisible && children}
    </div>
  );
}

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

/** A list of the page with its heading and the button that adds to it. */
export function Section({ title, add, onAdd, children }: { title: string; add: string; onAdd: () => void; children: ReactNode }) {
  return (
    // The position of the sections below is not known until the list is loaded.
    <section className="mt-10 [&:has([data-loading])~*]:invisible">
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
        <Button onClick={onAdd}>
          <PlusIcon />
          {add}
        </Button>
      </div>
      {children}
    </section>
  );
}

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
