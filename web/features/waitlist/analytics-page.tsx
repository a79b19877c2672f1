import { PageHeading } from '../../ui/page-heading.tsx';

export function AnalyticsPage() {
  return <PageHeading title="Analytics" />;
}
