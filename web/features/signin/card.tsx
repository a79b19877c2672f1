import type { ReactNode } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { useTranslator } from '../../lib/texts.ts';
import { Mark, SiteIcon } from '../../ui/icons.tsx';

/** The card around every step. */
export function Card({ children }: { children: ReactNode }) {
  return <div className="rise rounded-panel border border-line bg-panel p-5 shadow-raised sm:p-8">{children}</div>;
}

/** Returns the name of the website that the visitor signs in to, or its host; null for other targets. */
export const siteNameOf = (target: SignInBoot['target']): string | null =>
  target.kind === 'site' ? (target.name ?? target.displayHost) : null;

const programs = { here: 'auth.oidc_program_here', elsewhere: 'auth.oidc_program_elsewhere' } as const;

/**
 * The website or application that the visitor signs in to. Both choose their own name, so the host stands with it, and first where
 * anyone can register one.
 */
export function TargetLine({ target, portalName }: { target: SignInBoot['target']; portalName: string }) {
  const { t } = useTranslator();
  const hosts = target.kind === 'portal' || (target.kind !== 'application' && target.host === '') ? null : target;
  const program = hosts?.kind === 'application' && hosts.program;
  const ownName = hosts && hosts.kind !== 'unsupported' && hosts.name;
  const lines = hosts ? [hosts.displayHost, hosts.host, program && t(programs[program])] : [];
  const ordered = hosts?.kind === 'application' ? [...lines, ownName] : [ownName, ...lines];
  const [name = portalName, ...others] = new Set(ordered.filter((text): text is string => !!text));
  const icon = hosts?.kind === 'site' ? hosts : null;
  return (
    <p className="mb-6 flex min-w-0 items-center gap-3 text-sm font-medium">
      {hosts ? <SiteIcon name={name} iconUrl={icon?.iconUrl ?? null} colored={Boolean(icon?.accent)} /> : <Mark className="size-9" />}
      <span className="min-w-0 wrap-anywhere">
        <bdi dir={name === ownName ? 'auto' : 'ltr'}>{name}</bdi>
        {others.map((line) => (
          <span key={line} className="block font-normal text-muted">
            <bdi dir={line === ownName ? 'auto' : 'ltr'}>{line}</bdi>
          </span>
        ))}
      </span>
    </p>
  );
}

/** A framed note above the controls of a step. A failure is read at once by screen readers. */
export function Note({ tone, children }: { tone: 'plain' | 'failure'; children: ReactNode }) {
  const color = tone === 'failure' ? 'border-danger/40 bg-danger-tint' : 'border-accent/40 bg-tint';
  return (
    <div role={tone === 'failure' ? 'alert' : undefined} className={`mt-5 rounded-control border px-4 py-3 text-sm wrap-anywhere ${color}`}>
      {children}
    </div>
  );
}
