import { ApiError } from '../../../contract/client.ts';
import { MAX_LIST_PAGE } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { inSeconds } from '../../lib/dates.ts';
import type { ListState } from '../../lib/websites-list.ts';
import type { Website } from './queries.ts';

type Listed = Output<'searchWebsites'>['websites'];

/** Returns all websites that a search found, page by page. */
export async function fetchAll({ q, sort }: ListState): Promise<Listed> {
  const all = new Map<string, Listed[number]>();
  for (let page = 1; ; page++) {
    const { total, websites } = await api.searchWebsites({ q, sort, page, limit: MAX_LIST_PAGE });
    for (const website of websites) all.set(website.id, website);
    if (page * MAX_LIST_PAGE >= total) return [...all.values()];
  }
}

/** Returns the list as rows of a table, with its header. */
export function tableOf(websites: Listed): (string | number)[][] {
  const rows = websites.map(({ domain, displayDomain, verified, createdAt, stats }) => {
    const { sent, opened, again, completed, medianSeconds } = stats;
    return [domain, displayDomain, verified ? 'yes' : 'no', createdAt, sent, opened, again, completed, medianSeconds ?? ''];
  });
  const counts = ['emails sent', 'opened', 'remembered', 'tokens verified', 'median seconds'].map((name) => `${name} (30 days)`);
  return [['domain', 'displayed as', 'verified', 'added', ...counts], ...rows];
}

/** What came of an action on several websites. `stopped`: why the rest was not tried, as a sentence. */
export type BulkResult = { done: Website[]; failed: Website[]; stopped: string | null };

/**
 * Does something with one website after the other, and stops at a rate limit or when the service cannot be reached.
 * @param onProgress gets the number of websites that were tried
 */
export async function forEachWebsite(
  websites: readonly Website[],
  act: (website: Website) => Promise<unknown>,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (tried: number) => void },
): Promise<BulkResult> {
  const result: BulkResult = { done: [], failed: [], stopped: null };
  for (const [index, website] of websites.entries()) {
    if (signal.aborted) return { ...result, stopped: 'You stopped it.' };
    try {
      await act(website);
      result.done.push(website);
    } catch (error) {
      const reason = stopReasonOf(error);
      if (reason) return { ...result, stopped: reason };
      result.failed.push(website);
    }
    onProgress(index + 1);
  }
  return result;
}

function stopReasonOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === 'rate_limited') return `The limit of checks is reached. You can continue ${inSeconds(error.retryAfter ?? 60, 'en')}.`;
  if (error.status === 0 || error.status >= 500) return 'The service cannot be reached.';
  return error.code === 'sign_in_needed' ? 'You are not signed in.' : null;
}
