import { PageHeading } from '../../ui/page-heading.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Applications } from './applications.tsx';

/** /dashboard/auth: the account's applications and API keys. */
export function ApplicationsPage() {
  return (
    <>
      <PageHeading title="Authentication" />
      <p className="mt-1.5 text-muted">
        Applications sign people in by OAuth 2.0 with PKCE. API keys let your own programs call the service.
      </p>
      <Applications />
      <ApiKeys />
    </>
  );
}
