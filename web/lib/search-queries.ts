import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from './api.ts';

/** Websites and sections of the documentation that are listed. */
const MAX_FOUND = 6;
/** After the last key. */
const DELAY_MS = 120;
/** The documentation is searched from this length on. */
const MIN_DOCS_QUERY = 3;
const STALE_MS = 60_000;

/**
 * Loads the websites whose domain contains a text, the newest for an empty one. The service searches: an account may have thousands.
 * @returns `total`: how many there are, with those that are not loaded
 */
export function useFoundWebsites(text: string, enabled: boolean) {
  const q = useDelayed(text.trim(), DELAY_MS);
  const found = useQuery({
    queryKey: ['websites', 'found', q],
    queryFn: ({ signal }) => api.searchWebsites({ q, limit: MAX_FOUND }, { signal }),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: STALE_MS,
  });
  // While a search runs, the list is the one before.
  const typed = text.trim().toLowerCase();
  const websites = (found.data?.websites ?? []).filter(({ domain, displayDomain }) => `${displayDomain} ${domain}`.includes(typed));
  return { websites, total: found.data?.total, error: found.error, isSearching: found.isFetching || text.trim() !== q };
}

/** Loads the sections of the documentation that match a text. */
export function useFoundSections(text: string, enabled: boolean) {
  const q = useDelayed(text.trim(), DELAY_MS);
  return useQuery({
    queryKey: ['docs', 'found', q],
    queryFn: ({ signal }) => api.searchDocs({ q }, { signal }),
    select: (sections) => sections.slice(0, MAX_FOUND),
    enabled: enabled && q.length >= MIN_DOCS_QUERY,
    placeholderData: q.length >= MIN_DOCS_QUERY ? keepPreviousData : undefined,
  });
}

/** Loads the applications and API keys, which are few, with the keys of their page. */
export function useOwnClients(enabled: boolean) {
  const applications = useQuery({ queryKey: ['applications'], queryFn: ({ signal }) => api.listClients({}, { signal }), enabled });
  const apiKeys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => api.listApiKeys({}, { signal }),
    enabled,
    staleTime: STALE_MS,
  });
  return { applications: applications.data ?? [], apiKeys: apiKeys.data ?? [], isLoading: applications.isLoading };
}

/** Returns a value once it has stayed the same for a time, so that not every key of an input starts a request. */
function useDelayed<Value>(value: Value, delayMs: number): Value {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return delayed;
}
