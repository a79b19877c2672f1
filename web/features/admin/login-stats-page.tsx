import { PageHeading } from '../../ui/page-heading.tsx';

export function LoginStatsPage() {
  return <PageHeading title="Admin Dashboard" />;
}
