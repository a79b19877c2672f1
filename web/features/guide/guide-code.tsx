import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { AssistantPrompt, FrameworkPicker, Integration, loadFirstIntegration } from '../../ui/integration.tsx';

/** The domain that the guide shows in place of the reader's. */
export const DOMAIN = 'example.com';

const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, networkMode: 'always' } },
});

/** Loads what the first rendering of both components needs, on the service and in a browser. */
export const prepareGuideCode = () => loadFirstIntegration(queries);

/** The prompt for an assistant, by framework. */
export const GuidePrompt = () => (
  <QueryClientProvider client={queries}>
    <div className="grid gap-5">
      <FrameworkPicker />
      <AssistantPrompt domain={DOMAIN} />
    </div>
  </QueryClientProvider>
);

/** The files of a website, by framework. */
export const GuideFiles = () => (
  <QueryClientProvider client={queries}>
    <Integration domain={DOMAIN} />
  </QueryClientProvider>
);
