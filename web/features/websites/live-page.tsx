import { Command } from 'cmdk';
import { Popover } from 'radix-ui';
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { errorText } from '../../lib/api.ts';
import { useFoundWebsites, useOwnClients } from '../../lib/queries.ts';
import { paths, websitePath } from '../../paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CheckIcon, DownIcon, SearchIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Alert, Empty, Failed } from '../../ui/states.tsx';
import { EventRow, type LiveEvent, LiveState, useLiveEvents } from './live-events.tsx';
import { useWebsite, type Website } from './website.ts';
import { TryDialog } from './website-actions.tsx';

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

/** Whose sign-ins are shown: `value` is empty for all, a domain or the client ID of an application. */
type LiveSource = { value: string; label: string; website?: Website };

const ALL: LiveSource = { value: '', label: 'All websites and applications' };

/** Loads what the address names; everything when the account has no such website or application. */
function useLiveSource(value: string) {
  const { total, error: failed } = useFoundWebsites('', true);
  const clients = useOwnClients(true);
  const application = clients.applications.find(({ clientId }) => clientId === value);
  const isWebsite = value !== '' && !value.startsWith('app_');
  const website = useWebsite(value, isWebsite);
  const isMissing = Object(website.error).code === 'website_not_found';
  const isLoading = isWebsite ? website.isPending : clients.isLoading;
  const found = website.data
    ? { value, label: website.data.displayDomain, website: website.data }
    : application && { value, label: application.name };
  const error = (isMissing ? null : website.error) ?? failed;
  return {
    source: isLoading || total === undefined ? undefined : (found ?? ALL),
    isEmpty: total === 0 && !clients.isLoading && clients.applications.length === 0,
    error,
    isFetching: website.isFetching,
    refetch: website.refetch,
  };
}

/** Chooses a website or an application of the account. The service searches the websites, of which there may be thousands. */
function SourcePicker({ source, onChoose }: { source: LiveSource; onChoose: (value: string) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <span id={`${id}-label`} className="mb-1.5 block text-sm font-medium">
        Website
      </span>
      <Popover.Trigger
        id={id}
        aria-labelledby={`${id}-label ${id}`}
        className="flex h-11 w-full min-w-0 items-center justify-between gap-2 rounded-control border border-edge/60 bg-panel px-3 text-left text-base hover:border-edge"
      >
        <span className="truncate">{source.label}</span>
        <DownIcon className="size-4 shrink-0 text-muted" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Choose a website"
          className="rise z-40 w-(--radix-popover-trigger-width) min-w-64 rounded-panel border border-line bg-panel p-2 shadow-raised"
        >
          <Choices
            chosen={source.value}
            onChoose={(value) => {
              setIsOpen(false);
              onChoose(value);
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Choices({ chosen, onChoose }: { chosen: string; onChoose: (value: string) => void }) {
  const [search, setSearch] = useState('');
  const { websites, total = 0, isSearching } = useFoundWebsites(search, true);
  const { applications } = useOwnClients(true);
  const typed = search.trim().toLowerCase();
  const choices = [
    ...(typed === '' ? [{ ...ALL, detail: '' }] : []),
    ...websites.map(({ domain, displayDomain }) => ({ value: domain, label: displayDomain, detail: '' })),
    ...applications
      .filter(({ name }) => name.toLowerCase().includes(typed))
      .map(({ clientId, name }) => ({ value: clientId, label: name, detail: 'Application' })),
  ];
  const others = total - websites.length;
  return (
    <Command label="Websites and applications" shouldFilter={false} vimBindings={false} loop>
      <div className="flex items-center gap-2 rounded-control border border-edge/60 px-3 focus-within:border-accent">
        <SearchIcon className="size-4 shrink-0 text-muted" />
        <Command.Input
          value={search}
          onValueChange={setSearch}
          maxLength={200}
          placeholder="Search websites"
          className="h-11 w-full min-w-0 bg-transparent text-base outline-none"
        />
      </div>
      <Command.List label="Websites and applications" className="mt-2 max-h-72 overflow-y-auto overscroll-contain">
        {choices.map(({ value, label, detail }) => (
          <Command.Item
            key={value}
            value={value || 'all'}
            onSelect={() => onChoose(value)}
            className="flex min-h-11 cursor-pointer items-center justify-between gap-3 rounded-control px-3 py-1.5 text-[0.9375rem] data-[selected=true]:bg-sunk"
          >
            <span className="min-w-0 wrap-anywhere">
              {label}
              {detail && <span className="block text-[0.8125rem] text-muted">{detail}</span>}
            </span>
            {value === chosen && <CheckIcon className="size-4 shrink-0 text-accent" />}
          </Command.Item>
        ))}
      </Command.List>
      <p role="status" className="px-3 pt-2 text-[0.8125rem] leading-5 text-muted">
        {choices.length === 0 && (isSearching ? 'Searching...' : 'Nothing found.')}
        {others > 0 && !isSearching && `${others.toLocaleString('en')} more: type a part of the domain.`}
      </p>
    </Command>
  );
}
