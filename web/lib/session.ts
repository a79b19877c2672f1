import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../contract/client.ts';
import { hintCookies } from '../../contract/remembered.ts';
import type { Output } from '../../contract/routes.ts';
import { call } from './call.ts';
import { readCookie } from './cookies.ts';
import { clearPkceOfTab } from './pkce-store.ts';
import { blankKeys, forgetLatest, latestAddress } from './remembered.ts';

export type User = Output<'me'>;

const ME = ['me'];
const MINUTE = 60_000;

/**
 * Who is signed in; null when nobody is. While the service cannot say, a browser that holds identity cookies shows their
 * address: a placeholder for the eye, with which no call succeeds.
 */
export function useUser() {
  return useQuery({ queryKey: ME, queryFn: fetchUser, staleTime: 5 * MINUTE, gcTime: 10 * MINUTE });
}

/** Whose account this browser last used, before the service has said who is signed in: for the eye alone. */
export const useAccountHint = () => useState(latestAddress)[0];
/** Has the service say again who is signed in. */
export function useRefreshUser() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ME });
}

/** A call that is refused because nobody is signed in, after a logout in another tab say, has the pages ask who is. */
export function watchSession(queries: QueryClient) {
  const learn = ({ type, action }: { type: string; action?: { type: string; error?: unknown } }) => {
    if (type !== 'updated' || action?.type !== 'error') return;
    if (action.error instanceof ApiError && action.error.code === 'sign_in_needed') void queries.invalidateQueries({ queryKey: ME });
  };
  queries.getQueryCache().subscribe(learn as never);
  queries.getMutationCache().subscribe(learn as never);
}

/** Ends the session here and, when it can be reached, on the service. */
export function useLogout(onDone: () => void) {
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: () => call<'logout'>('POST', '/api/auth/logout', {}),
    onError: (error) => console.warn('The service did not confirm the logout.', error),
    onSettled: () => {
      forgetSession();
      onDone();
    },
  });
}

/** Ends the account's sessions and keys on every device. Unlike a logout it is nothing without the service. */
export function useSignOutEverywhere(onDone: () => void) {
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: () => call<'signOutEverywhere'>('POST', '/api/user/sign-out-everywhere', {}),
    onSuccess: () => {
      forgetSession();
      onDone();
    },
  });
}

/** Forgets in this browser who was signed in. */
function useForgetSession() {
  const queries = useQueryClient();
  return () => {
    forgetLatest();
    blankKeys();
    clearPkceOfTab();
    queries.clear();
    queries.setQueryData(ME, null);
  };
}

/** Opens a session with the portal's own token. `confirm`: the person agreed to it. */
export function useTokenLogin() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (login: { token: string; confirm?: boolean }) => call<'tokenLogin'>('POST', '/api/auth/token-login', login),
    onSuccess: () => queries.resetQueries(),
  });
}

async function fetchUser({ signal }: { signal: AbortSignal }): Promise<User | null> {
  try {
    return await call<'me'>('GET', '/api/user/me', {}, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    const email = latestAddress();
    if (email && readCookie(hintCookies.key)) return { id: 'user_from_cookie', email, name: null };
    throw error;
  }
}
