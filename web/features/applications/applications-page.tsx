import { PageHeading } from '../../ui/page-heading.tsx';

export function ApplicationsPage() {
  return <PageHeading title="Authentication" />;
}
