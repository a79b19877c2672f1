import { QueryClientProvider } from '@tanstack/react-query';
import { queryClient } from './lib/query.ts';
import { Routes } from './routes.tsx';
import { Toaster } from './ui/toaster.tsx';
import { TooltipTimes } from './ui/tooltip.tsx';

/** The portal entry. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipTimes>
        <Routes />
        <Toaster />
      </TooltipTimes>
    </QueryClientProvider>
  );
}
