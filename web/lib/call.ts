import { ApiError } from '../../contract/client.ts';
import type { Input, Output, RouteName, Routes } from '../../contract/routes.ts';

/**
 * One call of the contract, its path parameters filled in from the input. Method and path are named at the call, so that the
 * table of routes with all its schemas stays out of the pages' weight; the types hold them to the named route.
 * @throws ApiError for every answer that is not a success, with status 0 when no answer comes
 */
export async function call<Name extends RouteName>(
  method: Routes[Name]['method'],
  path: Routes[Name]['path'],
  input: Input<Name>,
  signal?: AbortSignal,
): Promise<Output<Name>> {
  const rest: Record<string, unknown> = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(rest[name]));
    delete rest[name];
    return value;
  });
  if (method === 'POST' || method === 'PUT') {
    return answerOf(filled, { method, signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(rest) });
  }
  const query = new URLSearchParams(rest as Record<string, string>);
  return answerOf(query.size > 0 ? `${filled}?${query}` : filled, { method, signal });
}

/** The JSON that `url` answers. @throws ApiError like `call` */
export async function answerOf<Answer>(url: string, request: RequestInit = {}): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...request });
    text = await response.text();
  } catch (cause) {
    if (request.signal?.aborted) throw cause;
    throw new ApiError(0, { error: 'The service cannot be reached.' }, { cause });
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = {};
  }
  if (response.ok) return body as Answer;
  throw new ApiError(response.status, body as object, { retryAfter: Number(response.headers.get('Retry-After')) || undefined });
}
