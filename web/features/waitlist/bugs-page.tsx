import { PageHeading } from '../../ui/page-heading.tsx';

export function BugsPage() {
  return <PageHeading title="Bug Reports" />;
}
