import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { errorText } from '../../lib/api.ts';
import { paths, websitePath } from '../../paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Alert, Empty, Failed } from '../../ui/states.tsx';
import { EventRow } from './event-row.tsx';
import { type LiveEvent, useLiveEvents } from './live-events.ts';
import { LiveState } from './live-state.tsx';
import { type LiveSource, SourcePicker, useLiveSource } from './source-picker.tsx';
import { TryDialog } from './try-dialog.tsx';

/** /developer-email-auth/live: the steps of the sign-ins at the account's websites, as they happen. */
export function LivePage() {
  const [parameters, setParameters] = useSearchParams();
  const { source, isEmpty, error, isFetching, refetch } = useLiveSource(parameters.get('domain') ?? '');
  const show = (domain: string) => setParameters(domain ? { domain } : {}, { replace: true });
  return (
    <>
      <PageHeading title="Live Sign-ins" />
      <p className="mt-1.5 mb-8 max-w-2xl text-muted">
        Each step of the sign-ins at your websites and applications, as it happens: from the request of the email to the token that your
        server verifies.
      </p>
      <h2 className="sr-only">Steps</h2>
      {error && <Failed error={error} fallback="Your websites could not be loaded." isFetching={isFetching} refetch={refetch} />}
      {!source && !isEmpty && !error && <RowsLoading what="your websites" />}
      {isEmpty && (
        <Empty title="No Websites Added" text="Add the domain of your site; then you see here what happens when its visitors sign in.">
          <ButtonLink as={Link} href={paths.websites} variant="secondary">
            My Websites
          </ButtonLink>
        </Empty>
      )}
      {source && !isEmpty && <Panel key={source.value} source={source} onChoose={show} />}
    </>
  );
}

function Panel({ source, onChoose }: { source: LiveSource; onChoose: (value: string) => void }) {
  const [paused, setPaused] = useState(false);
  const [trying, setTrying] = useState(false);
  const { events, error } = useLiveEvents(source.value || undefined, paused);
  const chosen = source.website;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 grow basis-64 sm:max-w-sm">
          <SourcePicker source={source} onChoose={onChoose} />
        </div>
        <div className="flex items-center justify-between gap-4 max-sm:w-full">
          <LiveState paused={paused} failed={Boolean(error)} />
          <Button variant="secondary" className="min-w-24" onClick={() => setPaused(!paused)}>
            {paused ? 'Resume' : 'Pause'}
          </Button>
        </div>
      </div>
      <Scroller count={events?.length ?? 0}>
        {!events && !error && (
          <Plain>
            <RowsLoading what="sign-ins" rows={4} />
          </Plain>
        )}
        {!events && error ? <Alert>{errorText(error, 'The sign-ins could not be loaded.')}</Alert> : null}
        {events?.length === 0 && (
          <Plain>
            <Empty
              title="Nothing in the last hour"
              text="Sign in to your website as a visitor would: each step appears here, with what to change if it fails."
            >
              {chosen && (
                <Button variant="secondary" onClick={() => setTrying(true)}>
                  Test sign-in
                </Button>
              )}
            </Empty>
          </Plain>
        )}
        {events && <Log events={events} withDomain={source.value === ''} />}
      </Scroller>
      {chosen && (
        <p className="mt-3 text-sm text-muted">
          Older steps are in the{' '}
          <Link href={websitePath(chosen.domain, 'log')} className="text-accent underline underline-offset-2">
            log of {chosen.displayDomain}
          </Link>
          , with filters.
        </p>
      )}
      {trying && chosen && <TryDialog website={chosen} onClose={() => setTrying(false)} />}
    </>
  );
}

/** Shows a panel without its border, since the box has one. */
const Plain = ({ children }: { children: ReactNode }) => <div className="*:border-0 *:bg-transparent">{children}</div>;

const AT_END_PX = 40;

/** A box of fixed height, so that new rows move nothing on the page. It shows the newest row unless the person has scrolled up. */
function Scroller({ count, children }: { count: number; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each new row
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [count]);
  return (
    <section
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard can scroll it only when it has the focus
      tabIndex={0}
      aria-label="Steps of sign-ins"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < AT_END_PX;
      }}
      // `relative`: texts for screen readers would otherwise lengthen the page.
      className="relative h-[max(20rem,calc(100dvh-22rem))] overflow-y-auto rounded-panel border [scrollbar-gutter:stable] border-line bg-panel"
    >
      {children}
    </section>
  );
}

/** The events, oldest first. Screen readers read new ones when they are idle. */
function Log({ events, withDomain }: { events: LiveEvent[]; withDomain: boolean }) {
  return (
    <div role="log">
      <ol className="divide-y divide-line">
        {events.map((event) => (
          <EventRow key={event.id} event={event} withDomain={withDomain} />
        ))}
      </ol>
    </div>
  );
}
