import { MAX_LIST_PAGE } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { paths } from '../../paths.ts';

/** What of the audit log is shown, as its address says it; an empty text: no condition. Days are UTC days, YYYY-MM-DD. */
export type ActivityFilter = { action: string; domain: string; from: string; to: string };

export type Entry = Output<'auditLogs'>[number];

/** More would not fit in one spreadsheet that a person reads. */
const MAX_EXPORTED = 10_000;

/** The actions that can be chosen; a value stands for all actions that begin with one of its words. */
export const actionGroups = [
  { value: '', label: 'All actions' },
  { value: 'developer,device,signed_out_everywhere', label: 'Sign-ins and devices' },
  { value: 'website', label: 'Websites' },
  { value: 'member,invitation,invited,removed,role', label: 'Teams' },
  { value: 'application', label: 'Applications' },
  { value: 'api_key', label: 'API keys' },
  { value: 'connection', label: 'Connected applications' },
  { value: 'profile,organisation,branding', label: 'Settings' },
];

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Reads the filter from an address; what is not valid there is left out. */
export function filterOf(query: URLSearchParams): ActivityFilter {
  const action = actionGroups.find(({ value }) => value === query.get('action'))?.value ?? '';
  const dayOf = (name: string) => {
    const day = query.get(name) ?? '';
    return DAY.test(day) && !Number.isNaN(Date.parse(day)) ? day : '';
  };
  return { action, domain: query.get('domain')?.trim().slice(0, 253) ?? '', from: dayOf('from'), to: dayOf('to') };
}

/** Returns the address of the page with a filter. */
export function activityPath(filter: ActivityFilter): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  return query.size > 0 ? `${paths.activity}?${query}` : paths.activity;
}

/** Returns the parameters of the call. @param before the id of the entry before which the page begins */
export const inputOf = (filter: ActivityFilter, limit: number, before?: string) => ({
  limit,
  before,
  ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')),
});

/** Returns the newest entries that match, for the export, and whether there may be more. */
export async function fetchAll(filter: ActivityFilter): Promise<{ entries: Entry[]; isComplete: boolean }> {
  const entries: Entry[] = [];
  while (entries.length < MAX_EXPORTED) {
    const page = await api.auditLogs(inputOf(filter, MAX_LIST_PAGE, entries.at(-1)?.id));
    entries.push(...page);
    if (page.length < MAX_LIST_PAGE) return { entries, isComplete: true };
  }
  return { entries, isComplete: false };
}
