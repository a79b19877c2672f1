import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Input, Output } from '../../contract/calls.ts';
import { ApiError } from '../../contract/client.ts';
import { hintCookies, SESSION_SEEN_COOKIE, SESSION_SEEN_SECONDS } from '../../contract/remembered.ts';
import { api } from './api.ts';
import { deleteKeys, deletePkceOfTab, forgetLatest, latestAddress, readCookie, writeCookie } from './storage.ts';

type User = NonNullable<Output<'session'>['user']>;

// The calls' own key, so that a change of the session refreshes the user.
const ME = ['session'];
const MINUTE = 60_000;

/**
 * Returns the signed-in developer, or null. While the service is not available, the address comes from the cookies of the browser. It
 * is then for display only; no call succeeds.
 */
export function useUser() {
  return useQuery({ queryKey: ME, queryFn: fetchUser, staleTime: 5 * MINUTE, gcTime: 10 * MINUTE });
}

/** Returns the address that this browser last signed in with, to display until `useUser` has a result. */
export const useAccountHint = () => useState(latestAddress)[0];

/** Fetches the user, or the admin session, again when a call fails because the session has ended. A logout in another tab ends it too. */
export function watchSession(queries: QueryClient) {
  const onEvent = ({ type, action }: { type: string; action?: { type: string; error?: unknown } }) => {
    if (type !== 'updated' || action?.type !== 'error') return;
    const code = action.error instanceof ApiError && action.error.code;
    if (code === 'sign_in_needed') void queries.invalidateQueries({ queryKey: ME });
    if (code === 'admin_needed') void queries.invalidateQueries({ queryKey: ['adminSession'] });
  };
  queries.getQueryCache().subscribe(onEvent as never);
  queries.getMutationCache().subscribe(onEvent as never);
}

/** Ends the session in this browser and, when the service is available, on the service. */
export function useLogout(onDone: () => void) {
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: () => api.logout({}),
    onError: (error) => console.warn('The service did not confirm the logout.', error),
    onSettled: () => {
      forgetSession();
      onDone();
    },
  });
}

/** Ends the account's sessions and keys on every device, and the given API keys and passkeys. Unlike a logout it needs the service. */
export function useSignOutEverywhere(onDone: () => void) {
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: (input: Input<'signOutEverywhere'>) => api.signOutEverywhere(input),
    onSuccess: () => {
      forgetSession();
      onDone();
    },
  });
}

/** Returns a function that deletes every trace of the session from this browser. */
function useForgetSession() {
  const queries = useQueryClient();
  return () => {
    writeCookie(SESSION_SEEN_COOKIE, null);
    forgetLatest();
    deleteKeys();
    deletePkceOfTab();
    queries.clear();
    queries.setQueryData(ME, null);
  };
}

/** Opens a session with a token of the portal. `confirm`: the person agreed to it. */
export function useTokenLogin() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (login: { token: string; confirm?: boolean }) => api.tokenLogin(login),
    onSuccess: () => queries.resetQueries(),
  });
}

/** Whether a call needs no confirmation of the session first: the service has confirmed it within ten minutes. */
export const isSessionFresh = () => readCookie(SESSION_SEEN_COOKIE) !== null;

/** Returns whether the session is valid, from the cache or from the service. Never rejects. */
export const hasSession = async (queries: QueryClient): Promise<boolean> =>
  Boolean(await queries.fetchQuery({ queryKey: ME, queryFn: fetchUser, staleTime: 5 * MINUTE }).catch(() => null));

async function fetchUser({ signal }: { signal: AbortSignal }): Promise<User | null> {
  // The service sets it at every sign-in. Without it no one is signed in.
  if (!readCookie(hintCookies.key)) return null;
  try {
    const { user } = await api.session({}, { signal });
    writeCookie(SESSION_SEEN_COOKIE, user && '1', SESSION_SEEN_SECONDS);
    return user;
  } catch (error) {
    const email = latestAddress();
    if (email) return { id: 'user_from_cookie', email, name: null };
    throw error;
  }
}
