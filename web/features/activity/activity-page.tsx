import { PageHeading } from '../../ui/page-heading.tsx';

/** /dashboard/activity: the audit log of the account. */
export function ActivityPage() {
  return <PageHeading title="Activity" />;
}
