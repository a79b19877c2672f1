import { PageHeading } from '../../ui/page-heading.tsx';

export function SettingsPage() {
  return <PageHeading title="Settings" />;
}
