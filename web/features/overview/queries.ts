import { useQuery } from '@tanstack/react-query';
import { call } from '../../lib/call.ts';

/** How long figures and activity pass for new: who comes back to the page after that sees them measured again. */
const FRESH_MS = 5_000;
const ENTRIES = 4;

export const useOverview = () =>
  useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => call<'overview'>('GET', '/api/overview', {}, signal),
    staleTime: FRESH_MS,
  });

export const useRecentActivity = () =>
  useQuery({
    queryKey: ['activity', ENTRIES],
    queryFn: ({ signal }) => call<'auditLogs'>('GET', '/api/audit-logs', { limit: ENTRIES }, signal),
    staleTime: FRESH_MS,
  });

/** Under the key of the websites' own page, whose changes are seen here at once. */
export const useWebsites = () =>
  useQuery({ queryKey: ['websites'], queryFn: ({ signal }) => call<'listWebsites'>('GET', '/api/websites', {}, signal) });
