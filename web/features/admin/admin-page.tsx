import { type ComponentType, Fragment } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { errorText } from '../../lib/api.ts';
import { useAct, useRefresh } from '../../lib/calls.ts';
import { useUser } from '../../lib/session.ts';
import { paths } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { ArrowIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Alert, Failed, Loading } from '../../ui/states.tsx';
import { AdminNav, type AdminSession, LogoutButton, useAdminSession } from './admin-session.tsx';
import { AuditList, MailHistory, MailList, UserList, WebsiteList } from './lists.tsx';

const lists: { key: string; label: string; List: ComponentType }[] = [
  { key: 'websites', label: 'Websites', List: WebsiteList },
  { key: 'users', label: 'Users', List: UserList },
  { key: 'mails', label: 'Mail queue', List: MailList },
  { key: 'sent-mails', label: 'Sent and failed emails', List: MailHistory },
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

const OPEN_DELAY_MS = 100;

/** /admin without an admin session, and in production always. */
function AccessDenied({ session }: { session: AdminSession }) {
  return (
    <div className="mx-auto grid max-w-md gap-6 py-12 sm:py-20">
      <div className="grid gap-2">
        <PageHeading title="Access Denied" />
        <p className="text-muted">This page is only available to administrators in development mode.</p>
      </div>
      {session.ended && <Alert>Your admin session has ended.</Alert>}
      {session.development && <EnableSession />}
      <nav aria-labelledby="navigation">
        <h2 id="navigation" className="mb-2 text-sm font-medium">
          Navigation
        </h2>
        <ul className="divide-y divide-line rounded-panel border border-line bg-panel">
          <NavigationLink href={paths.admin} label="Admin" />
          <NavigationLink href={paths.developer} label="Developer Portal" />
        </ul>
      </nav>
    </div>
  );
}

function NavigationLink({ href, label }: { href: string; label: string }) {
  const [path] = useLocation();
  return (
    <li>
      <Link
        href={href}
        aria-current={path === href ? 'page' : undefined}
        className="flex min-h-11 items-center justify-between gap-3 px-4 py-2.5 -outline-offset-2 hover:bg-sunk"
      >
        {label}
        <span className="flex items-center gap-3 font-mono text-[0.8125rem] text-muted">
          {href}
          <ArrowIcon />
        </span>
      </Link>
    </li>
  );
}

/** Local mode: a signed-in developer can open the admin session without the password. */
function EnableSession() {
  const { data: user, isPending } = useUser();
  const [, navigate] = useLocation();
  const enable = useAct('enableAdmin');
  const refresh = useRefresh();
  const open = () =>
    enable.mutate(
      { enable: true },
      {
        onSuccess: () => {
          void refresh('session');
          setTimeout(() => {
            navigate(paths.admin);
            void refresh('adminSession');
          }, OPEN_DELAY_MS);
        },
      },
    );

  if (isPending) return null;
  if (!user) {
    return (
      <div className="grid gap-3">
        <p className="text-[0.9375rem] leading-6 text-muted">
          The service runs in development mode. Sign in to enable the admin session, or open it with the password at{' '}
          <Link href={paths.loginStats} className="font-medium text-ink underline underline-offset-4">
            {paths.loginStats}
          </Link>
          .
        </p>
        <ButtonLink href={paths.signIn} className="justify-self-start">
          Sign in
        </ButtonLink>
      </div>
    );
  }
  return (
    <div className="grid gap-3">
      <p className="text-[0.9375rem] leading-6 text-muted">
        The service runs in development mode, so anyone who is signed in may enable the admin session.
      </p>
      {enable.error && <Alert>{errorText(enable.error, 'The admin session could not be enabled.')}</Alert>}
      <Button className="justify-self-start" busy={enable.isPending} onClick={open}>
        Enable Admin Session
      </Button>
    </div>
  );
}
