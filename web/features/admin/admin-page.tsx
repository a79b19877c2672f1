import { type ComponentType, Fragment } from 'react';
import { Link, useSearchParams } from 'wouter';
import { paths } from '../../paths.ts';
import { cx } from '../../ui/cx.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Failed, Loading } from '../../ui/states.tsx';
import { AccessDenied } from './access-denied.tsx';
import { AdminNav, LogoutButton } from './admin-nav.tsx';
import { AuditList, MailList, UserList, WebsiteList } from './lists.tsx';
import { useAdminSession } from './queries.ts';

const lists: { key: string; label: string; List: ComponentType }[] = [
  { key: 'websites', label: 'Websites', List: WebsiteList },
  { key: 'users', label: 'Users', List: UserList },
  { key: 'mails', label: 'Mail queue', List: MailList },
  { key: 'audit', label: 'Audit trail', List: AuditList },
];

/** /admin: websites, users, pending emails and the audit log of a service in local mode. */
export function AdminPage() {
  const session = useAdminSession();
  if (session.data) return session.data.development && session.data.unlocked ? <Lists /> : <AccessDenied session={session.data} />;
  if (session.isPending) return <Loading />;
  return (
    <div className="mx-auto grid max-w-md gap-4 py-16">
      <PageHeading title="Admin" />
      <Failed {...session} fallback="The admin session could not be checked." />
    </div>
  );
}

function Lists() {
  const [search] = useSearchParams();
  const { key, List } = lists.find((list) => list.key === search.get('list')) ?? lists[0];
  return (
    <div className="py-8 sm:py-12">
      <AdminNav />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <PageHeading title="Admin" />
        <LogoutButton />
      </div>
      <nav aria-label="Lists" className="mt-6 mb-6 flex gap-1 overflow-x-auto border-b border-line">
        {lists.map((list) => (
          <Link
            key={list.key}
            href={list === lists[0] ? paths.admin : `${paths.admin}?list=${list.key}`}
            aria-current={list.key === key ? 'true' : undefined}
            className={cx(
              '-mb-px flex min-h-11 shrink-0 items-center border-b-2 px-3 text-sm font-medium -outline-offset-2',
              list.key === key ? 'border-ink text-ink' : 'border-transparent text-muted hover:text-ink',
            )}
          >
            {list.label}
          </Link>
        ))}
      </nav>
      <Fragment key={key}>
        <List />
      </Fragment>
    </div>
  );
}
