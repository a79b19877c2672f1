import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

export function NotFoundPage() {
  return (
    <div className="mx-auto max-w-md py-24 text-center">
      <PageHeading title="404 Page Not Found" />
      <p className="mt-2 text-muted">Did you forget to add the page to the router?</p>
      <ButtonLink as={Link} look="secondary" href={paths.landing} className="mt-6">
        Go to Homepage
      </ButtonLink>
    </div>
  );
}
