import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { useWebsites } from './queries.ts';

const MAX_NAMES = 5;

/** For which of the person's websites the branding applies: those whose domain is proven. */
export function BrandedWebsites() {
  const { data: websites } = useWebsites();
  // As high while it loads, so that nothing moves.
  return <p className="mb-5 min-h-12 text-sm leading-6 text-muted">{websites && sentenceOf(websites)}</p>;
}

type Websites = NonNullable<ReturnType<typeof useWebsites>['data']>;

function sentenceOf(websites: Websites): ReactNode {
  const proven = websites.filter(({ verified }) => verified);
  const unproven = websites.filter(({ verified }) => !verified);
  const link = (
    <Link href={paths.websites} className="text-ink underline underline-offset-4">
      My Websites
    </Link>
  );
  if (websites.length === 0) return <>You have no websites yet. Add one under {link}.</>;
  if (proven.length === 0) return <>Applies to none of your websites yet: their domains are not proven. Prove them under {link}.</>;
  if (unproven.length === 0) return `Applies to ${namesOf(proven)}.`;
  return (
    <>
      Applies to {namesOf(proven)}. Not yet to {namesOf(unproven)}: prove {unproven.length === 1 ? 'its domain' : 'their domains'} under{' '}
      {link}.
    </>
  );
}

function namesOf(websites: Websites): string {
  const names = websites.slice(0, MAX_NAMES).map(({ displayDomain }) => displayDomain);
  const more = websites.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
