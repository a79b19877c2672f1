import { QueryClientProvider } from '@tanstack/react-query';
import { ConnectionBanner } from './chrome/connection-banner.tsx';
import { PaletteHost } from './chrome/palette-host.tsx';
import { watchConnection } from './lib/connection.ts';
import { queryClient } from './lib/query.ts';
import { watchSession } from './lib/session.ts';
import { Routes } from './routes.tsx';
import { Toaster } from './ui/toaster.tsx';
import { TooltipHost } from './ui/tooltip.tsx';

watchConnection(queryClient);
watchSession(queryClient);

/** The portal entry. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Routes />
      <PaletteHost />
      <ConnectionBanner />
      <Toaster />
      <TooltipHost />
    </QueryClientProvider>
  );
}
