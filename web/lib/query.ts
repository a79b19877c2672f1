import { QueryClient } from '@tanstack/react-query';

/**
 * What the portal knows of the service: asked once, never stale by itself, no second try behind the user's back. Without a
 * network a call fails at once, in words, and does not wait in silence.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: false,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
