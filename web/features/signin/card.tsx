import type { ReactNode } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { Mark } from '../../ui/icons.tsx';
import { SiteIcon } from '../../ui/site-icon.tsx';

/** The card around every step. */
export function Card({ children }: { children: ReactNode }) {
  return <div className="rise rounded-panel border border-line bg-panel p-5 shadow-raised sm:p-8">{children}</div>;
}

/** The website that the visitor signs in to. */
export function TargetLine({ target, portalName }: { target: SignInBoot['target']; portalName: string }) {
  const hosts = target.kind === 'portal' || target.host === '' ? null : target;
  return (
    <p className="mb-6 flex min-w-0 items-center gap-3 text-sm font-medium">
      {hosts ? <SiteIcon name={hosts.displayHost} iconUrl={hosts.kind === 'site' ? hosts.iconUrl : null} /> : <Mark className="size-9" />}
      <span className="min-w-0 wrap-anywhere">
        {hosts?.displayHost ?? portalName}
        {hosts && hosts.host !== hosts.displayHost && <span className="block font-normal text-muted">{hosts.host}</span>}
      </span>
    </p>
  );
}
