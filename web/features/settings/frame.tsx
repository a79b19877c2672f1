import { type ReactNode, useId } from 'react';
import { paths } from '../../pages.ts';
import { cx } from '../../ui/cx.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { SubNavigation } from '../../ui/sub-navigation.tsx';

const pages = [
  { href: paths.settings, label: 'Profile' },
  { href: paths.settingsBranding, label: 'Email branding' },
  { href: paths.settingsSecurity, label: 'Security' },
] as const;

/** The heading of a page of the settings, with the links to all of them. */
export function SettingsHeading({ current }: { current: (typeof pages)[number]['href'] }) {
  const label = pages.find(({ href }) => href === current)?.label;
  return (
    <header className="mb-8">
      <PageHeading title={current === paths.settings ? 'Settings' : `${label}, Settings`}>Settings</PageHeading>
      <SubNavigation label="Pages of the settings" pages={pages} current={current} />
    </header>
  );
}

/** One part of the settings: its title on the left, its controls on the right. */
export function SettingsSection({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="grid gap-x-10 gap-y-5 border-t border-line py-8 first-of-type:border-t-0 first-of-type:pt-0 lg:grid-cols-[13rem_minmax(0,1fr)]"
    >
      <div>
        <h2 id={id} className="font-semibold tracking-tight">
          {title}
        </h2>
        <p className="mt-1 max-w-md text-sm leading-6 text-muted">{text}</p>
      </div>
      <div className="min-w-0 max-w-xl">{children}</div>
    </section>
  );
}

/** A placeholder of the same height as a form. @param hints the height of each field's hint @param after the classes of a block below the form */
export function FormLoading({ hints, after }: { hints: string[]; after?: string }) {
  return (
    <div role="status" aria-label="Loading your settings">
      <div className="grid gap-5">
        {hints.map((hint, field) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: never moved
          <div key={field}>
            <Skeleton className="mb-1.5 h-5 w-24" />
            <Skeleton className="h-11 w-full" />
            {hint && <div className={cx('mt-1.5', hint)} />}
          </div>
        ))}
        <Skeleton className="h-11 w-36" />
      </div>
      {after && <Skeleton className={cx('w-full', after)} />}
    </div>
  );
}
