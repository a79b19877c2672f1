import { useQuery } from '@tanstack/react-query';
import { lexer } from 'marked';
import { ApiError } from '../../../contract/client.ts';
import { twinPath } from '../../../templates/doc-pages.ts';

/** Loads a page of the documentation: the same Markdown that assistants read. */
export function useDoc(slug: string) {
  return useQuery({
    queryKey: ['doc', slug],
    queryFn: async ({ signal }) => {
      const markdown = await textOf(twinPath(slug), signal);
      return { markdown, tokens: lexer(markdown) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** @throws ApiError with status 0 when there is no response */
async function textOf(path: string, signal: AbortSignal): Promise<string> {
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
