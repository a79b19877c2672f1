import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input, Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';

export type Visitor = Output<'listVisitors'>['visitors'][number];
export type VisitorQuery = Required<Omit<Input<'listVisitors'>, 'id' | 'page'>> & { page: number };

const keyOf = (id: string) => ['visitors', id];

export const useVisitors = (id: string, query: VisitorQuery) =>
  useQuery({
    queryKey: [...keyOf(id), query],
    queryFn: ({ signal }) => api.listVisitors({ id, ...query }, { signal }),
    placeholderData: keepPreviousData,
  });

export function useEraseVisitor(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (email: string) => api.eraseVisitor({ id, email }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(id) }),
  });
}

/** Loads all visitors of a website, or one of them. @param onProgress receives their number so far @throws ApiError */
export async function loadVisitors(
  id: string,
  email: string | undefined,
  signal: AbortSignal,
  onProgress: (count: number) => void = () => {},
): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  for (let after: string | undefined; ; ) {
    const { visitors: more, next } = await api.exportVisitors({ id, email, after }, { signal });
    visitors.push(...more);
    onProgress(visitors.length);
    if (next === null) return visitors;
    after = next;
  }
}
