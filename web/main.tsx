import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router, useRoute } from 'wouter';
import { Overlays } from './chrome/overlays.tsx';
import { ConnectionBanner, watchConnection } from './chrome/page-states.tsx';
import { watchMenu } from './chrome/public-frame.tsx';
import { watchSession } from './lib/session.ts';
import { hydrated } from './lib/store.ts';
import { paths } from './pages.ts';
import { openPage, preloadPage, Routes, watchLinks } from './routes.tsx';
import { Toaster } from './ui/toast.tsx';
import { TooltipHost } from './ui/tooltip.tsx';
import './portal.css';

// Data stays fresh until a change invalidates it. A call without a network fails at once instead of waiting for one.
const queryClient = new QueryClient({
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

// The service renders no page of the portal.
hydrated.set(true);
watchConnection(queryClient);
watchSession(queryClient);
watchMenu();
watchLinks(queryClient);
preloadPage(new URL(location.href), queryClient);

/** The portal entry. The page of a visitor's passkeys has another language, and its own notifications. */
function App() {
  const [isOfVisitor] = useRoute(paths.passkeys);
  return (
    <QueryClientProvider client={queryClient}>
      <Router aroundNav={openPage}>
        <Routes />
        {!isOfVisitor && (
          <>
            <Overlays />
            <ConnectionBanner />
            <Toaster />
            <TooltipHost />
          </>
        )}
      </Router>
    </QueryClientProvider>
  );
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
document.documentElement.dataset.script = 'running';
