import { PageHeading } from '../../ui/page-heading.tsx';

export function AdminPage() {
  return <PageHeading title="Admin" />;
}
