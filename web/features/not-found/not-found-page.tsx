import { Link, useLocation } from 'wouter';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

export function NotFoundPage() {
  const [path] = useLocation();
  return (
    <div className="mx-auto max-w-md py-24 text-center">
      <PageHeading title="404 Page Not Found" />
      <p className="mt-2 text-muted">Did you forget to add the page to the router?</p>
      <p className="mt-6 font-mono text-[0.8125rem] text-muted [overflow-wrap:anywhere]">{path}</p>
      <div className="mt-6 flex flex-wrap justify-center gap-2">
        <ButtonLink as={Link} href={paths.landing}>
          Go to Homepage
        </ButtonLink>
        <ButtonLink as={Link} look="secondary" href={paths.guide}>
          Documentation
        </ButtonLink>
      </div>
    </div>
  );
}
