import type { ReactNode } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { Mark } from '../../ui/icons.tsx';
import { SiteIcon } from '../../ui/site-icon.tsx';

/** The card around every step. */
export function Card({ children }: { children: ReactNode }) {
  return <div className="rise rounded-panel border border-line bg-panel p-5 shadow-raised sm:p-8">{children}</div>;
}

/** The website or application that the visitor signs in to. An application chooses its own name, so its host stands below. */
export function TargetLine({ target, portalName }: { target: SignInBoot['target']; portalName: string }) {
  const hosts = target.kind === 'portal' || target.host === '' ? null : target;
  const names = hosts
    ? [...new Set([hosts.kind === 'application' ? hosts.name : '', hosts.displayHost, hosts.host])].filter(Boolean)
    : [portalName];
  return (
    <p className="mb-6 flex min-w-0 items-center gap-3 text-sm font-medium">
      {hosts ? <SiteIcon name={names[0]} iconUrl={hosts.kind === 'site' ? hosts.iconUrl : null} /> : <Mark className="size-9" />}
      <span className="min-w-0 wrap-anywhere">
        <bdi>{names[0]}</bdi>
        {names.slice(1).map((name) => (
          <span key={name} className="block font-normal text-muted">
            {name}
          </span>
        ))}
      </span>
    </p>
  );
}
