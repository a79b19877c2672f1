import { PageHeading } from '../../ui/page-heading.tsx';

export function StatusPage() {
  return <PageHeading title="Status" />;
}
