import { queryOptions, type UseQueryOptions, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CallName, Input, Output } from '../../contract/calls.ts';
import { ApiError } from '../../contract/client.ts';
import { api } from './api.ts';

/** How long statistics, lists and activity are shown from the cache when the page is opened again. */
export const STALE_MS = 5_000;

type QueryOptions<Name extends CallName> = Omit<UseQueryOptions<Output<Name>>, 'queryKey' | 'queryFn'>;

/** A call with required input takes it; for every other call it may be left out. */
type Arguments<Name extends CallName> =
  Record<string, never> extends Input<Name>
    ? [input?: Input<Name>, options?: QueryOptions<Name>]
    : [input: Input<Name>, options?: QueryOptions<Name>];

/** Returns the query of a call. Its key is the name and the input, so that `useRefresh` finds it by the name. */
export const callQuery = <Name extends CallName>(name: Name, input: Input<Name>) =>
  queryOptions<Output<Name>>({ queryKey: [name, input], queryFn: ({ signal }) => api[name](input, { signal }) });

/** Loads what a call returns. Data stays fresh until a change refreshes it, unless `options` say otherwise. */
export function useCall<Name extends CallName>(name: Name, ...[input, options]: Arguments<Name>) {
  return useQuery({ ...callQuery<Name>(name, input ?? ({} as Input<Name>)), ...options });
}

/** The calls that return a list in pages, newest first. The next page is before the last entry of this one. */
export type PagedName = {
  [Name in CallName]: Output<Name> extends { id: string }[] ? ('before' extends keyof Input<Name> ? Name : never) : never;
}[CallName];

/** Loads the pages of a list, as one list. @param pageSize a smaller page is the last one */
export function usePages<Name extends PagedName>(
  name: Name,
  input: Input<Name>,
  pageSize: number,
  options: { staleTime?: number; refetchOnMount?: 'always' } = {},
) {
  const call = api[name] as (input: object, options: { signal: AbortSignal }) => Promise<Output<Name>>;
  return useInfiniteQuery({
    queryKey: [name, 'pages', input],
    queryFn: ({ pageParam, signal }) => call({ ...input, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: { id: string }[]) => (page.length < pageSize ? undefined : page.at(-1)?.id),
    placeholderData: (previous) => previous,
    select: ({ pages }) => pages.flat() as Output<Name>[number][],
    ...options,
  });
}

/** Returns a function that loads calls again, with every input, and resolves once those that are shown are loaded. */
export function useRefresh() {
  const queries = useQueryClient();
  return (...names: readonly CallName[]) => Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })));
}

/**
 * Returns a call as a mutation.
 * @param refreshes the calls whose results it changes; a 404 refreshes them too: the object has ended elsewhere
 * @param waits the mutation is pending until they are loaded
 */
export function useAct<Name extends CallName>(
  name: Name,
  { refreshes = [], waits = true }: { refreshes?: readonly CallName[]; waits?: boolean } = {},
) {
  const refresh = useRefresh();
  const call = api[name] as (input: Input<Name>) => Promise<Output<Name>>;
  return useMutation({
    mutationFn: (input: Input<Name>) => call(input),
    onSettled: (_output, error) => {
      if (error && !(error instanceof ApiError && error.status === 404)) return;
      const refreshed = refresh(...refreshes);
      return waits ? refreshed : undefined;
    },
  });
}
