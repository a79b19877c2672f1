import { keepPreviousData } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Output } from '../../contract/calls.ts';
import { MAX_DOCS_SEARCH } from '../../contract/limits.ts';
import { useCall } from '../lib/calls.ts';
import { useLogout, useUser } from '../lib/session.ts';
import { signInUrlOf } from '../lib/snippets.ts';
import { type PageName, pages, paths, websitePath } from '../pages.ts';
import { copyText } from '../ui/copyable.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SearchIcon } from '../ui/icons.tsx';
import { openShortcuts } from './open-overlay.ts';
import { switchTheme, useTheme } from './page-frame.tsx';

type Website = Output<'searchWebsites'>['websites'][number];

/** Websites with an entry of their own to copy their sign-in URL. */
const MAX_COPY_ENTRIES = 3;

/** A dialog that finds pages, actions, websites, applications, API keys and sections of the documentation by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { data: user } = useUser();
  const [search, setSearch] = useState('');
  // What a chosen website is for.
  const [mode, setMode] = useState<'all' | 'copy'>('all');
  const input = useRef<HTMLInputElement>(null);
  const isSignedIn = Boolean(user);
  const chooseWebsite = () => {
    setMode('copy');
    setSearch('');
    input.current?.focus();
  };

  const { websites, isSearching } = useFoundWebsites(search, isSignedIn, mode === 'copy');
  const groups = useGroups(search, isSignedIn, websites, chooseWebsite);
  const copyGroups = [{ heading: 'Copy the sign-in URL of', entries: websites.map((website) => copyEntry(website, true)) }];
  const shown = (mode === 'copy' ? copyGroups : groups).filter(({ entries }) => entries.length > 0);

  return (
    <Dialog title="Commands" first={input} onClose={onClose}>
      <Command label="Commands" shouldFilter={false} vimBindings={false} loop>
        <div className="flex items-center gap-2 rounded-control border border-edge/60 px-3 focus-within:border-accent">
          <SearchIcon className="size-4 text-muted" />
          <Command.Input
            ref={input}
            value={search}
            onValueChange={setSearch}
            maxLength={MAX_DOCS_SEARCH}
            placeholder={mode === 'copy' ? 'Of which website?' : 'Where to, or what to do?'}
            onKeyDown={(event) => {
              if (event.key === 'Backspace' && search === '') setMode('all');
            }}
            className="h-11 w-full min-w-0 bg-transparent text-base outline-none"
          />
        </div>
        <Command.List label="Pages and actions" className="-mx-2 mt-3 h-[min(24rem,50dvh)] overflow-y-auto overscroll-contain px-2">
          {shown.map(({ heading, entries }) => (
            <Entries key={heading} heading={heading} entries={entries} onClose={onClose} />
          ))}
          {shown.length === 0 && (
            <p role="status" className="px-3 py-10 text-center text-sm text-muted">
              {isSearching ? 'Searching...' : mode === 'copy' && search === '' ? 'You have no website yet.' : 'Nothing found.'}
            </p>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

type Group = { heading: string; entries: Entry[] };

/** Returns what matches the search, in the order of the list. */
function useGroups(search: string, isSignedIn: boolean, websites: Website[], chooseWebsite: () => void): Group[] {
  const [path, navigate] = useLocation();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const otherTheme = useTheme() === 'dark' ? 'light' : 'dark';
  const sections = useFoundSections(search);
  const { data: applications = [] } = useCall('listClients', {}, { enabled: isSignedIn });
  const { data: apiKeys = [] } = useCall('listApiKeys', {}, { enabled: isSignedIn, staleTime: SEARCH_STALE_MS });
  const go = (href: string) => () => navigate(href);
  const isBlank = search.trim() === '';

  const found = namedPages(isSignedIn).map(({ href, ...page }) => ({
    ...page,
    id: href,
    note: href === path ? 'You are here' : undefined,
    run: go(href),
  }));
  const actions: Entry[] = [
    ...(isSignedIn
      ? [
          { id: 'add-website', label: 'Add website', keywords: ['new', 'domain'], run: go(`${paths.websites}?add=website`) },
          { id: 'add-key', label: 'Generate API key', keywords: ['new', 'token'], run: go(`${paths.applications}?add=key`) },
          { id: 'copy', label: 'Copy sign-in URL of a website...', keywords: ['link', 'auth', 'login'], kept: true, run: chooseWebsite },
        ]
      : // The sign-in page is a separate entry: only a page load reaches it.
        [{ id: 'sign-in', label: 'Sign in', keywords: ['login', 'email'], run: () => location.assign(paths.signIn) }]),
    { id: 'shortcuts', label: 'Keyboard shortcuts', keywords: ['keys', 'help'], note: '?', kept: true, run: openShortcuts },
    { id: 'theme', label: `Switch to ${otherTheme} theme`, keywords: ['dark', 'light', 'mode'], run: switchTheme },
    ...(isSignedIn ? [{ id: 'sign-out', label: 'Sign out', keywords: ['logout', 'leave'], run: () => logout.mutate() }] : []),
  ];
  const clients: Entry[] = [
    ...applications.map(({ id, name, clientId }) => ({
      id,
      label: name,
      detail: 'Application',
      keywords: ['application', clientId],
      run: go(`${paths.applications}#${id}`),
    })),
    ...apiKeys.map(({ id, name, keyId, environment }) => ({
      id,
      label: name,
      detail: `API key, ${environment}`,
      keywords: ['api', 'key', keyId],
      run: go(`${paths.applications}#${id}`),
    })),
  ];
  if (isBlank)
    return [
      { heading: 'Pages', entries: found },
      { heading: 'Actions', entries: actions },
    ];
  return [
    { heading: 'Pages', entries: matchingEntries(found, search) },
    {
      heading: 'Websites',
      entries: websites.map(({ id, domain, displayDomain }) => ({ id, label: displayDomain, run: go(websitePath(domain)) })),
    },
    { heading: 'Applications and API keys', entries: matchingEntries(clients, search) },
    {
      heading: 'Actions',
      entries: [...matchingEntries(actions, search), ...websites.slice(0, MAX_COPY_ENTRIES).map((website) => copyEntry(website, false))],
    },
    {
      heading: 'Documentation',
      entries: sections.map(({ title, heading, url }) => ({
        id: url,
        label: heading,
        detail: heading === title ? undefined : title,
        run: go(url.slice(new URL(url).origin.length)),
      })),
    },
  ];
}

/** @param isShort the heading of the group says what it does */
function copyEntry({ id, domain, displayDomain }: Website, isShort: boolean): Entry {
  const url = signInUrlOf(location.origin, domain);
  return {
    id: `copy-${id}`,
    label: isShort ? displayDomain : `Copy sign-in URL of ${displayDomain}`,
    run: () => void copyText(url, url),
  };
}

function Entries({ heading, entries, onClose }: { heading: string; entries: Entry[]; onClose: () => void }) {
  return (
    <Command.Group heading={<span className="block px-3 pt-2 pb-1 text-[0.8125rem] text-muted">{heading}</span>}>
      {entries.map(({ id, label, detail, note, kept, run }) => (
        <Command.Item
          key={id}
          value={id}
          onSelect={() => {
            if (!kept) onClose();
            run();
          }}
          className="flex min-h-11 cursor-pointer items-center justify-between gap-4 rounded-control px-3 py-1.5 text-[0.9375rem] data-[selected=true]:bg-sunk"
        >
          <span className="min-w-0 wrap-anywhere">
            {label}
            {detail && <span className="block text-[0.8125rem] text-muted">{detail}</span>}
          </span>
          {note && <span className="shrink-0 text-[0.8125rem] text-muted">{note}</span>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** An entry of the commands. `id` is unique among all; `kept`: the menu stays open and shows something else. */
type Entry = { id: string; label: string; detail?: string; keywords?: string[]; note?: string; kept?: boolean; run: () => void };

/** How the commands name the pages, and further words that find them, in their order. Here, because only the commands load it. */
const NAMES: { [Name in PageName]?: { label: string; keywords: string[] } } = {
  websites: { label: 'Websites', keywords: ['my', 'email', 'auth', 'service', 'domains'] },
  dashboard: { label: 'Overview', keywords: ['dashboard', 'figures', 'statistics'] },
  applications: { label: 'Applications and API keys', keywords: ['authentication', 'oauth', 'clients'] },
  activity: { label: 'Activity', keywords: ['audit', 'log', 'history'] },
  settings: { label: 'Settings', keywords: ['profile', 'name', 'organization'] },
  settingsBranding: { label: 'Email branding', keywords: ['settings', 'logo', 'sender'] },
  settingsSecurity: { label: 'Security', keywords: ['settings', 'devices', 'passkeys', 'connected', 'applications'] },
  profile: { label: 'Profile', keywords: ['account', 'devices'] },
  developer: { label: 'Developer Home', keywords: ['portal'] },
  analytics: { label: 'Analytics', keywords: ['waitlist', 'soon'] },
  bugs: { label: 'Bug Reports', keywords: ['waitlist', 'soon'] },
  landing: { label: 'Home', keywords: ['start', 'landing'] },
  guide: { label: 'Documentation', keywords: ['guide', 'help', 'integrate'] },
  register: { label: 'Register a domain', keywords: ['website', 'site'] },
  status: { label: 'Status', keywords: ['incidents', 'uptime'] },
  terms: { label: 'Terms', keywords: ['legal', 'tos'] },
  privacy: { label: 'Privacy', keywords: ['legal'] },
};

/** The pages that the commands name: those of the portal for whom is signed in, the home page for everyone else. */
function namedPages(isSignedIn: boolean): { href: string; label: string; keywords: string[] }[] {
  return (Object.keys(NAMES) as PageName[]).flatMap((name) => {
    const isPublic = pages[name].frame !== 'portal';
    const isShown = name === 'landing' ? !isSignedIn : isSignedIn || isPublic;
    return isShown && NAMES[name] ? [{ href: paths[name], ...NAMES[name] }] : [];
  });
}

/**
 * Returns the entries that match a search, best first: every word of it is the start of a word of the label, else of the label or a
 * keyword.
 */
export function matchingEntries(entries: readonly Entry[], search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const beginIn = (text: string) => words.every((word) => ` ${text.toLowerCase()}`.includes(` ${word}`));
  const byLabel = entries.filter(({ label }) => beginIn(label));
  const byKeyword = entries.filter(({ label, keywords = [] }) => !beginIn(label) && beginIn([label, ...keywords].join(' ')));
  return [...byLabel, ...byKeyword];
}

/** Websites and sections of the documentation that are listed. */
const MAX_FOUND = 6;
/** After the last key. */
const DELAY_MS = 120;
/** The documentation is searched from this length on. */
const MIN_DOCS_QUERY = 3;
const SEARCH_STALE_MS = 60_000;

/**
 * Loads the websites whose domain contains a text. The service searches: an account may have thousands.
 * @param newest an empty text finds the newest ones, else none
 */
function useFoundWebsites(text: string, isSignedIn: boolean, newest: boolean) {
  const typed = text.trim();
  const q = useDelayed(typed, DELAY_MS);
  const found = useCall(
    'searchWebsites',
    { q, limit: MAX_FOUND },
    { enabled: isSignedIn && (newest || q !== ''), placeholderData: keepPreviousData, staleTime: SEARCH_STALE_MS },
  );
  const isEarlier = q !== typed || found.isPlaceholderData;
  // While a search runs, the list is what matches of the one before. The newest are not among that.
  const known = typed === '' && (isEarlier || !newest) ? [] : (found.data?.websites ?? []);
  const websites = known.filter(({ domain, displayDomain }) => `${displayDomain} ${domain}`.includes(typed.toLowerCase()));
  return { websites, isSearching: found.isFetching || isEarlier };
}

/** Loads the sections of the documentation that match a text. */
function useFoundSections(text: string) {
  const q = useDelayed(text.trim(), DELAY_MS);
  const enabled = q.length >= MIN_DOCS_QUERY;
  const { data = [] } = useCall('searchDocs', { q }, { enabled, placeholderData: enabled ? keepPreviousData : undefined });
  return data.slice(0, MAX_FOUND);
}

/** Returns a value once it has stayed the same for a time, so that not every key of an input starts a request. */
function useDelayed<Value>(value: Value, delayMs: number): Value {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return delayed;
}
