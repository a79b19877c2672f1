import { PageHeading } from '../../ui/page-heading.tsx';

export function OverviewPage() {
  return <PageHeading title="Dashboard" />;
}
