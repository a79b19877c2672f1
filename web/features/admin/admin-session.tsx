import { keepPreviousData, type QueryClient, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import type { Output } from '../../../contract/routes.ts';
import { api, errorText } from '../../lib/api.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { toastFailure } from '../../ui/toast.tsx';

const pages = [
  { href: paths.admin, label: 'Admin' },
  { href: paths.loginStats, label: 'Login statistics' },
  { href: paths.developer, label: 'Developer Portal' },
];

/** Links between the admin pages. */
export function AdminNav() {
  const [path] = useLocation();
  return (
    <nav aria-label="Admin pages" className="-mx-3 mb-6 flex flex-wrap">
      {pages.map(({ href, label }) => (
        <Link
          key={href}
          href={href}
          aria-current={path === href ? 'page' : undefined}
          className={cx(
            'flex min-h-11 items-center rounded-control px-3 text-sm font-medium',
            path === href ? 'text-ink' : 'text-muted hover:bg-sunk hover:text-ink',
          )}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** Ends the admin session. */
export function LogoutButton() {
  const logout = useAdminLogout();
  const lock = () =>
    logout.mutate(undefined, { onError: (error) => toastFailure('Logout failed', errorText(error, 'The admin pages are still open.')) });
  return (
    <Button variant="secondary" busy={logout.isPending} onClick={lock}>
      {logout.isPending ? 'Logging out...' : 'Logout'}
    </Button>
  );
}

/** `ended`: it was open in this page and has expired. */
export type AdminSession = Output<'adminSession'> & { ended: boolean };

const ALL = ['admin'];
const SESSION = ['admin', 'session'];
const LOGINS = ['admin', 'logins'];
/** The page size of the service: a smaller page is the last one. */
const PAGE_SIZE = 50;

/** Loads the admin session of this browser, again at each focus of the window, since it may have ended. */
export function useAdminSession() {
  const queries = useQueryClient();
  return useQuery({
    queryKey: SESSION,
    queryFn: async ({ signal }): Promise<AdminSession> => {
      const session = await api.adminSession({}, { signal });
      const before = queries.getQueryData<AdminSession>(SESSION);
      return { ...session, ended: !session.unlocked && (before?.unlocked || before?.ended || false) };
    },
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  });
}

/** Opens an admin session with the password. */
export function useUnlock() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (password: string) => api.adminVerify({ password }),
    onSuccess: () => changeSession(queries, { unlocked: true, ended: false }),
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'admin_disabled') changeSession(queries, { enabled: false });
    },
  });
}

function useAdminLogout() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => api.adminLogout({}),
    onSuccess: () => {
      changeSession(queries, { unlocked: false, ended: false });
      queries.removeQueries({ queryKey: ALL, predicate: ({ queryKey }) => queryKey[1] !== SESSION[1] });
    },
  });
}

/** Opens an admin session without the password, in local mode. */
export function useEnableAdmin() {
  return useMutation({ mutationFn: () => api.enableAdmin({ enable: true }) });
}

/** Returns a function that loads the admin session again. */
export function useRefreshSession() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: SESSION });
}

/** Loads the sign-ins per day, newest first. */
export function useDailyLogins() {
  const queries = useQueryClient();
  return useQuery({
    queryKey: LOGINS,
    queryFn: ({ signal }) => asAdmin(queries, api.dailyLogins({}, { signal })),
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  });
}

/** Loads the websites whose domain or address contains a text. */
export const useAdminWebsites = (q: string) => usePages(q, 'websites', (query, signal) => api.adminWebsites(query, { signal }));
/** Loads the developers whose address or name contains a text. */
export const useAdminUsers = (q: string) => usePages(q, 'users', (query, signal) => api.adminUsers(query, { signal }));
/** Loads the pending emails that contain a text. */
export const useAdminMails = (q: string) => usePages(q, 'mails', (query, signal) => api.adminMails(query, { signal }));
/** Loads the entries of the audit log that contain a text. */
export const useAdminAuditLog = (q: string) => usePages(q, 'audit', (query, signal) => api.adminAuditLog(query, { signal }));

/** A list that is fetched in pages, newest first. */
export type Pages<Entry extends { id: string }> = ReturnType<typeof usePages<Entry>>;

/** Makes the service send a pending email now. */
export function useRetryMail() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => asAdmin(queries, api.retryMail({ id })),
  });
}

function usePages<Entry extends { id: string }>(
  q: string,
  name: string,
  fetchPage: (query: { before?: string; q?: string }, signal: AbortSignal) => Promise<Entry[]>,
) {
  const queries = useQueryClient();
  return useInfiniteQuery({
    queryKey: [...ALL, name, q],
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => asAdmin(queries, fetchPage({ ...(pageParam && { before: pageParam }), ...(q && { q }) }, signal)),
    initialPageParam: '',
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.id),
    select: ({ pages }) => pages.flat(),
    refetchOnMount: 'always',
  });
}

/** Returns the response of a call, and fetches the session again when the call failed because it has ended. */
async function asAdmin<Response>(queries: QueryClient, response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'admin_needed') void queries.invalidateQueries({ queryKey: SESSION });
    throw error;
  }
}

function changeSession(queries: QueryClient, change: Partial<AdminSession>): void {
  queries.setQueryData<AdminSession>(SESSION, (session) => session && { ...session, ...change });
}
