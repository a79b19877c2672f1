import { type QueryClient, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../../../contract/client.ts';
import type { Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

/** `ended`: it was open in this page and was not closed by hand. */
export type AdminSession = Output<'adminSession'> & { ended: boolean };

const ALL = ['admin'];
const SESSION = ['admin', 'session'];
const LOGINS = ['admin', 'logins'];
/** The service gives so many entries at once; fewer are the last ones. */
const PAGE = 50;

/** Whether the admin pages are open to this browser. Somebody who comes back to the window learns that the session has ended. */
export function useAdminSession() {
  const queries = useQueryClient();
  return useQuery({
    queryKey: SESSION,
    queryFn: async ({ signal }): Promise<AdminSession> => {
      const session = await call<'adminSession'>('GET', '/api/admin/session', {}, signal);
      const before = queries.getQueryData<AdminSession>(SESSION);
      return { ...session, ended: !session.unlocked && (before?.unlocked || before?.ended || false) };
    },
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  });
}

export function useUnlock() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (password: string) => call<'adminVerify'>('POST', '/api/admin/verify', { password }),
    onSuccess: () => changeSession(queries, { unlocked: true, ended: false }),
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'admin_disabled') changeSession(queries, { enabled: false });
    },
  });
}

export function useAdminLogout() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call<'adminLogout'>('POST', '/api/admin/logout', {}),
    onSuccess: () => {
      changeSession(queries, { unlocked: false, ended: false });
      queries.removeQueries({ queryKey: ALL, predicate: ({ queryKey }) => queryKey[1] !== SESSION[1] });
    },
  });
}

/** Opens a session without the password, for a developer in local mode. */
export function useEnableAdmin() {
  return useMutation({ mutationFn: () => call<'enableAdmin'>('POST', '/api/dev/admin-session', { enable: true }) });
}

export function useRefreshSession() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: SESSION });
}

export function useDailyLogins() {
  const queries = useQueryClient();
  return useQuery({
    queryKey: LOGINS,
    queryFn: ({ signal }) => asAdmin(queries, call<'dailyLogins'>('GET', '/api/admin/daily-login-stats', {}, signal)),
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  });
}

export const useAdminWebsites = () =>
  usePages('websites', (query, signal) => call<'adminWebsites'>('GET', '/api/dev/websites', query, signal));
export const useAdminUsers = () => usePages('users', (query, signal) => call<'adminUsers'>('GET', '/api/dev/users', query, signal));
export const useAdminMails = () => usePages('mails', (query, signal) => call<'adminMails'>('GET', '/api/dev/mails', query, signal));
export const useAdminAuditLog = () =>
  usePages('audit', (query, signal) => call<'adminAuditLog'>('GET', '/api/dev/audit-logs', query, signal));

/** A list that is fetched page by page, newest first. */
export type Pages<Entry extends { id: string }> = ReturnType<typeof usePages<Entry>>;

export function useRetryMail() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => asAdmin(queries, call<'retryMail'>('POST', '/api/dev/mails/{id}/retry', { id })),
  });
}

function usePages<Entry extends { id: string }>(
  name: string,
  fetchPage: (query: { before?: string }, signal: AbortSignal) => Promise<Entry[]>,
) {
  const queries = useQueryClient();
  return useInfiniteQuery({
    queryKey: [...ALL, name],
    queryFn: ({ pageParam, signal }) => asAdmin(queries, fetchPage(pageParam ? { before: pageParam } : {}, signal)),
    initialPageParam: '',
    getNextPageParam: (page) => (page.length < PAGE ? undefined : page.at(-1)?.id),
    select: ({ pages }) => pages.flat(),
    refetchOnMount: 'always',
  });
}

/** Passes a call's answer on; when it says that the session has ended, the page that is open locks. */
async function asAdmin<Answer>(queries: QueryClient, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'admin_needed') void queries.invalidateQueries({ queryKey: SESSION });
    throw error;
  }
}

function changeSession(queries: QueryClient, change: Partial<AdminSession>): void {
  queries.setQueryData<AdminSession>(SESSION, (session) => session && { ...session, ...change });
}
