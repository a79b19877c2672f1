import { Command } from 'cmdk';
import { Popover } from 'radix-ui';
import { useId, useState } from 'react';
import { useFoundWebsites, useOwnClients } from '../../lib/search-queries.ts';
import { CheckIcon, DownIcon, SearchIcon } from '../../ui/icons.tsx';
import { useWebsite, type Website } from './queries.ts';

/** Whose sign-ins are shown: `value` is empty for all, a domain or the client ID of an application. */
export type LiveSource = { value: string; label: string; website?: Website };

const ALL: LiveSource = { value: '', label: 'All websites and applications' };

/** Loads what the address names; everything when the account has no such website or application. */
export function useLiveSource(value: string) {
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
export function SourcePicker({ source, onChoose }: { source: LiveSource; onChoose: (value: string) => void }) {
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
