import { useEffect, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { ApiError } from '../../../contract/client.ts';
import { MAX_EVENT_WAIT_SECONDS } from '../../../contract/limits.ts';
import { api } from '../../lib/api.ts';
import { useRefresh } from '../../lib/calls.ts';
import { cx } from '../../ui/cx.ts';
import { CheckIcon, CrossIcon } from '../../ui/icons.tsx';

export type LiveEvent = Output<'websiteEvents'>['events'][number];

/** The newest events that are shown. */
const MAX_SHOWN = 500;
/** Between two calls of which the first one returned at once without events, and after failures. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

type Live = {
  /** Oldest first. */
  events: LiveEvent[];
  cursor: string | undefined;
  /** Why the last call failed. It is tried again, except after a 4xx response other than 429. */
  error: unknown;
};

/**
 * Follows the events of a website. While paused it keeps its place, so that it continues without a gap.
 * @param domain undefined: of all websites of the account
 * @param start the cursor to begin at; undefined: not known yet
 */
export function useLiveEvents(domain: string | undefined, paused: boolean, start: string | undefined): Live {
  const [live, setLive] = useState<Live>({ events: [], cursor: undefined, error: null });
  const refresh = useRefresh();
  const hasStart = start !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the loop itself moves the cursor
  useEffect(() => {
    const from = live.cursor ?? start;
    if (paused || from === undefined) return;
    const stop = new AbortController();
    void follow(domain, from, stop.signal, {
      onPage: ({ events, cursor }) =>
        setLive((before) => ({ events: [...before.events, ...events].slice(-MAX_SHOWN), cursor, error: null })),
      onError: (error) => {
        setLive((before) => ({ ...before, error }));
        if (error instanceof ApiError && error.code === 'sign_in_needed') void refresh('session');
      },
    });
    return () => stop.abort();
  }, [domain, paused, hasStart]);
  return live;
}

type Handlers = { onPage(page: Output<'websiteEvents'>): void; onError(error: unknown): void };

/** Calls `onPage` for each page of events until the signal aborts, or the caller may not see them. */
async function follow(domain: string | undefined, from: string, signal: AbortSignal, { onPage, onError }: Handlers) {
  let [after, failures, wait] = [from, 0, 0];
  while (!signal.aborted) {
    const start = Date.now();
    try {
      const page = await api.websiteEvents({ domain, after, wait }, { signal });
      if (signal.aborted) return;
      onPage(page);
      failures = 0;
      after = page.cursor;
      const isEarly = wait > 0 && page.events.length === 0 && !page.more && Date.now() - start < MIN_PAUSE_MS;
      wait = page.more ? 0 : MAX_EVENT_WAIT_SECONDS;
      if (isEarly) await pause(MIN_PAUSE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) return;
      await pause(Math.min(MIN_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS), signal);
      failures += 1;
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });

/** One step of a sign-in, with what to do about it. @param inSignIn below the address of its sign-in */
export function EventRow({ event, inSignIn = false }: { event: LiveEvent; inSignIn?: boolean }) {
  const { at, level, text, count, email, fix } = event;
  return (
    <li className="grid gap-x-4 gap-y-0.5 px-4 py-3 sm:grid-cols-[4.5rem_1fr] sm:px-5">
      <EventTime at={at} />
      <div className="flex min-w-0 gap-2.5">
        <Mark level={level} />
        <div className="min-w-0">
          <p className="text-[0.9375rem] leading-6">
            {level === 'problem' && <span className="sr-only">Problem: </span>}
            {text}
            {count > 1 && <span className="text-muted"> {count.toLocaleString('en')} more within a minute.</span>}
          </p>
          {fix && (
            <p className="mt-0.5 text-sm leading-6">
              <span className="font-medium">Fix:</span> {withCode(fix)}
            </p>
          )}
          {email && !inSignIn && (
            <p className="text-[0.8125rem] leading-5 text-muted wrap-anywhere">
              <bdi dir="ltr">{email}</bdi>
            </p>
          )}
        </div>
      </div>
    </li>
  );
}

/** The time of a step, with the day unless it is today. */
export function EventTime({ at }: { at: string }) {
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact.format(time)} className="text-sm leading-6 text-muted tabular-nums">
      {clock.format(time)}
      {!isToday(time) && <span className="text-[0.8125rem] sm:block sm:leading-4"> {day.format(time)}</span>}
    </time>
  );
}

const isToday = (time: number) => new Date(time).toDateString() === new Date().toDateString();

/** The sign of a level. A text says the same to screen readers. */
export function Mark({ level }: { level: LiveEvent['level'] }) {
  return (
    <span aria-hidden="true" className="grid h-6 w-4 shrink-0 place-items-center">
      {level === 'problem' && <CrossIcon className="size-4 text-danger" />}
      {level === 'success' && <CheckIcon className="size-4 text-accent" />}
      {level === 'info' && <span className="size-1.5 rounded-full bg-edge" />}
    </span>
  );
}

/** Returns a sentence with its code, in backticks, as elements. */
export function withCode(sentence: string) {
  return sentence.split('`').map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change
      <code key={index} className="font-mono text-[0.8125rem]">
        {part}
      </code>
    ) : (
      part
    ),
  );
}

/** Whether new events appear. Screen readers announce its changes. */
export function LiveState({ paused, failed, className }: { paused: boolean; failed: boolean; className?: string }) {
  const [tone, text] = paused ? ['bg-edge', 'Paused'] : failed ? ['bg-danger', 'Reconnecting'] : ['bg-accent', 'Live'];
  return (
    <p role="status" className={cx('flex min-w-28 items-center gap-2 text-sm', className)}>
      <span aria-hidden="true" className={`size-2 rounded-full ${tone}`} />
      {text}
    </p>
  );
}
