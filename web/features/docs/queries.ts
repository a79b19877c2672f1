import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../contract/client.ts';
import { markdownPath } from '../../../docs/pages.ts';

/** Loads a page of the documentation as the Markdown that assistants read. */
export function useDoc(slug: string) {
  return useQuery({
    queryKey: ['doc', slug],
    queryFn: ({ signal }) => fetchText(markdownPath(slug), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** @throws ApiError with status 0 when the service cannot be reached */
async function fetchText(path: string, signal: AbortSignal): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { signal });
    text = await response.text();
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ApiError(0, { error: 'The service cannot be reached.' }, { cause });
  }
  if (!response.ok) throw new ApiError(response.status, { error: 'This page could not be loaded.' });
  return text;
}
