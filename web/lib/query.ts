import { QueryClient } from '@tanstack/react-query';

/** What the portal knows of the service: asked once, never stale by itself, no second try behind the user's back. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false, refetchOnReconnect: false, retry: false },
    mutations: { retry: false },
  },
});
