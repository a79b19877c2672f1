import { ApiError } from '../../../contract/client.ts';

/** An element as its tag, attributes and children, or a text. A `table` has `columns`; a `pre` a `label`, and its code as only child. */
export type DocNode = string | [tag: string, attributes: DocAttributes, ...children: DocNode[]];

export type DocAttributes = { id?: string; href?: string; start?: number; columns?: number; label?: string };

/** A page of the documentation, parsed by the build (web/build-docs.ts). */
export type DocText = {
  /** Its headings of level 2. */
  sections: { heading: string; anchor: string }[];
  /** Its elements, divided before each heading. */
  parts: DocNode[][];
};

/** Stands for the origin of the service in the files of the build. */
export const ORIGIN_PLACEHOLDER = 'https://origin.invalid';

/** Loads a page of the build. @throws ApiError with status 0 when the service cannot be reached */
export async function fetchDocText(path: string, signal: AbortSignal): Promise<DocText> {
  return JSON.parse((await fetchText(path, signal)).replaceAll(ORIGIN_PLACEHOLDER, location.origin));
}

/** Loads a text. @throws ApiError with status 0 when the service cannot be reached */
export async function fetchText(path: string, signal?: AbortSignal): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { signal });
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, { error: 'The service cannot be reached.' }, { cause });
  }
  if (!response.ok) throw new ApiError(response.status, { error: 'This page could not be loaded.' });
  return text;
}
