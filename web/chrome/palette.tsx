import { Command } from 'cmdk';
import { useRef } from 'react';
import { useLocation } from 'wouter';
import { useLogout, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { copyText } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SearchIcon } from '../ui/icons.tsx';
import { switchTheme, useTheme } from '../ui/theme-switch.tsx';

type Entry = { label: string; keywords?: string[]; note?: string; run: () => void };

const publicPages = [
  { href: paths.guide, label: 'Documentation', keywords: ['guide', 'help', 'integrate'] },
  { href: paths.register, label: 'Register a domain', keywords: ['website', 'site'] },
  { href: paths.status, label: 'Status', keywords: ['incidents', 'uptime'] },
  { href: paths.terms, label: 'Terms', keywords: ['legal', 'tos'] },
  { href: paths.privacy, label: 'Privacy', keywords: ['legal'] },
];
const portalPages = [
  { href: paths.developer, label: 'Developer Home', keywords: ['portal'] },
  { href: paths.websites, label: 'Email Auth Service', keywords: ['my websites', 'domains'] },
  { href: paths.live, label: 'Live Sign-ins', keywords: ['tail', 'log', 'events', 'debug'] },
  { href: paths.dashboard, label: 'Dashboard', keywords: ['overview', 'figures', 'statistics'] },
  { href: paths.applications, label: 'Applications and API keys', keywords: ['authentication', 'oauth', 'clients'] },
  { href: paths.analytics, label: 'Analytics', keywords: ['waitlist', 'soon'] },
  { href: paths.bugs, label: 'Bug Reports', keywords: ['waitlist', 'soon'] },
  { href: paths.settings, label: 'Settings', keywords: ['name', 'organization', 'branding'] },
  { href: paths.profile, label: 'Profile', keywords: ['account', 'devices'] },
];

/** A dialog that finds pages and actions by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [path, navigate] = useLocation();
  const { data: user } = useUser();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const input = useRef<HTMLInputElement>(null);

  const go = (href: string) => () => navigate(href);
  const pages = [...(user ? portalPages : [{ href: paths.landing, label: 'Home', keywords: ['start', 'landing'] }]), ...publicPages].map(
    ({ href, ...page }) => ({ ...page, note: href === path ? 'You are here' : undefined, run: go(href) }),
  );
  const signInUrl = location.origin + paths.signIn;
  const otherTheme = useTheme() === 'dark' ? 'light' : 'dark';
  const actions: Entry[] = [
    ...(user
      ? [
          { label: 'Add website', keywords: ['new', 'domain'], run: go(`${paths.websites}?add=website`) },
          { label: 'Generate API key', keywords: ['new', 'token'], run: go(`${paths.applications}?add=key`) },
        ]
      : // The sign-in page is a separate entry: only a page load reaches it.
        [{ label: 'Sign in', keywords: ['login', 'email'], run: () => location.assign(paths.signIn) }]),
    { label: 'Copy sign-in URL', keywords: ['link', 'auth'], run: () => void copyText(signInUrl, signInUrl) },
    { label: `Switch to ${otherTheme} theme`, keywords: ['dark', 'light', 'mode'], run: switchTheme },
    ...(user ? [{ label: 'Sign out', keywords: ['logout', 'leave'], run: () => logout.mutate() }] : []),
  ];

  return (
    <Dialog title="Commands" first={input} onClose={onClose}>
      <Command label="Commands" filter={matches} vimBindings={false} loop>
        <div className="flex items-center gap-2 rounded-control border border-edge/60 px-3 focus-within:border-accent">
          <SearchIcon className="size-4 text-muted" />
          <Command.Input
            ref={input}
            placeholder="Where to, or what to do?"
            className="h-11 w-full min-w-0 bg-transparent text-base outline-none"
          />
        </div>
        <Command.List label="Pages and actions" className="-mx-2 mt-3 h-[min(22rem,50dvh)] overflow-y-auto overscroll-contain px-2">
          <Command.Empty className="px-3 py-10 text-center text-sm text-muted">Nothing is called that.</Command.Empty>
          <Entries heading="Pages" entries={pages} onClose={onClose} />
          <Entries heading="Actions" entries={actions} onClose={onClose} />
        </Command.List>
      </Command>
    </Dialog>
  );
}

/** Returns 1 when every search word is the start of a word of the label, 0.5 when keywords were needed too, else 0. */
function matches(label: string, search: string, keywords: string[] = []): number {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const beginIn = (text: string) => words.every((word) => ` ${text.toLowerCase()}`.includes(` ${word}`));
  if (beginIn(label)) return 1;
  return beginIn([label, ...keywords].join(' ')) ? 0.5 : 0;
}

function Entries({ heading, entries, onClose }: { heading: string; entries: Entry[]; onClose: () => void }) {
  return (
    <Command.Group heading={<span className="block px-3 pt-2 pb-1 text-[0.8125rem] text-muted">{heading}</span>}>
      {entries.map(({ label, keywords, note, run }) => (
        <Command.Item
          key={label}
          value={label}
          keywords={keywords}
          onSelect={() => {
            onClose();
            run();
          }}
          className="flex min-h-11 cursor-pointer items-center justify-between gap-4 rounded-control px-3 text-[0.9375rem] data-[selected=true]:bg-sunk"
        >
          {label}
          {note && <span className="text-[0.8125rem] text-muted">{note}</span>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
