import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { takeWayBack } from '../../lib/storage.ts';
import { paths } from '../../paths.ts';
import { ArrowIcon, MailIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Badge } from '../../ui/states.tsx';

/** /developer: the home page of the portal. */
export function DeveloperPage() {
  const [, navigate] = useLocation();
  useEffect(() => {
    const page = takeWayBack();
    if (page) navigate(page, { replace: true });
  }, [navigate]);
  return (
    <>
      <PageHeading title="Developer Portal" />
      <p className="mt-1.5 text-muted">Your services.</p>
      <Link
        href={paths.websites}
        className="group mt-8 flex items-center gap-4 rounded-panel border border-line bg-panel p-5 transition-colors hover:border-edge sm:max-w-xl"
      >
        <span className="grid size-11 shrink-0 place-items-center rounded-control border border-line bg-sunk">
          <MailIcon className="size-5" />
        </span>
        <span className="min-w-0 grow">
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium">Email Authentication Service</span>
            <Badge tone="live">Active</Badge>
          </span>
          <span className="mt-0.5 block text-sm text-muted">Your websites, their sign-in page and the proof of their domains.</span>
        </span>
        <ArrowIcon className="size-4 text-muted transition-transform group-hover:translate-x-0.5" />
      </Link>
    </>
  );
}
