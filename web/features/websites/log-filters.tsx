import { useSearchParams } from 'wouter';
import type { Input } from '../../../contract/calls.ts';
import { EMAIL_METHODS, type EmailMethod, METHODS, OTHER_METHODS, ofEmails } from '../../../contract/methods.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { dayIn, Filters, SearchField } from '../../ui/filters.tsx';
import type { LiveEvent } from './live-events.tsx';

/** What the URL of the log filters by. `status`: '', `problems`, a kind, or a kind and a reason; `from`, `to`: UTC days, both included. */
export type LogFilters = { email: string; status: string; from: string; to: string };

type LogQuery = Omit<Input<'websiteLog'>, 'id' | 'before'>;

/** The filters of the whole log. */
export const NO_FILTERS: LogFilters = { email: '', status: '', from: '', to: '' };

type Option = { value: string; label: string };

const shortOf = (method: EmailMethod) => METHODS[method].short.toLowerCase();

/** The choices of the status, in groups: the steps of a sign-in, and what fails. */
const STATUSES: readonly { group: string; options: readonly Option[] }[] = [
  {
    group: 'Steps',
    options: [
      { value: 'requested', label: 'Email requested' },
      { value: 'mail_accepted', label: 'Email accepted by the mail server' },
      { value: 'opened', label: `Opened by ${ofEmails('or', (noun) => noun)}` },
      ...EMAIL_METHODS.flatMap((method) => {
        const { kind, reason } = METHODS[method].event;
        return reason === null ? [] : [{ value: `${kind} ${reason}`, label: `Opened by ${shortOf(method)}` }];
      }),
      { value: 'address_proven', label: 'Address proven, passkey needed' },
      ...OTHER_METHODS.map((method) => ({ value: METHODS[method].event.kind, label: METHODS[method].label })),
      { value: 'verified', label: 'Completed: token verified' },
      { value: 'exchanged', label: 'Completed: OpenID' },
      { value: 'callback_checked', label: 'Callback checked' },
      { value: 'domain_proven', label: 'Domain verified' },
    ],
  },
  {
    group: 'Problems',
    options: [
      { value: 'problems', label: 'All problems' },
      { value: 'request_refused', label: 'No email sent' },
      { value: 'mail_delayed', label: 'Email delayed' },
      { value: 'mail_refused', label: 'Email refused' },
      { value: 'mail_expired', label: 'Email expired' },
      { value: 'wrong_browser', label: 'Link in another browser' },
      { value: 'link_refused', label: 'Link rejected' },
      { value: 'link_refused used', label: 'Link rejected: used before' },
      { value: 'link_refused expired', label: 'Link rejected: expired' },
      { value: 'wrong_address', label: 'Wrong address' },
      { value: 'wrong_code', label: 'Wrong code' },
      { value: 'client_refused', label: 'OpenID request rejected' },
      { value: 'token_refused', label: 'Token rejected' },
      { value: 'token_refused used', label: 'Token rejected: used before' },
      { value: 'token_refused expired', label: 'Token rejected: expired' },
      { value: 'token_refused unknown', label: 'Token rejected: unknown' },
      { value: 'token_refused other_domain', label: 'Token rejected: another host' },
    ],
  },
];

const KNOWN = new Set(STATUSES.flatMap(({ options }) => options.map(({ value }) => value)));

/** Returns the filters of a query string; what is not valid there is left out. */
export function filtersOf(parameters: URLSearchParams): LogFilters {
  const status = parameters.get('status') ?? '';
  return {
    email: parameters.get('email') ?? '',
    status: KNOWN.has(status) ? status : '',
    from: dayIn(parameters, 'from'),
    to: dayIn(parameters, 'to'),
  };
}

/** Returns the query string of filters, without those that are empty. */
export const parametersOf = (filters: LogFilters): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));

/** Returns the filters of the URL, and a function that changes some of them there, without an entry in the history. */
export function useLogFilters(): [LogFilters, (changed: Partial<LogFilters>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const filters = filtersOf(parameters);
  return [filters, (changed) => setParameters(parametersOf({ ...filters, ...changed }), { replace: true })];
}

/** Returns the input of the call websiteLog. */
export function queryOf({ email, status, from, to }: LogFilters): LogQuery {
  const [kind, reason] = status.split(' ');
  return {
    ...(email !== '' && { email }),
    ...(status === 'problems' ? { problems: 'true' as const } : status !== '' && { kind, ...(reason && { reason }) }),
    ...(from !== '' && { from: `${from}T00:00:00.000Z` }),
    ...(to !== '' && { to: new Date(Date.parse(to) + 86_400_000).toISOString() }),
  };
}

/** Returns whether an event passes the filters, as the service decides it. */
export function passes({ email, kind, reason, level, at }: LiveEvent, filters: LogFilters): boolean {
  const query = queryOf(filters);
  return (
    (!query.email || (email ?? '').toLowerCase().startsWith(query.email.trim().toLowerCase())) &&
    (!query.kind || (kind === query.kind && (!query.reason || reason === query.reason))) &&
    (!query.problems || level === 'problem') &&
    (!query.from || at >= query.from) &&
    (!query.to || at < query.to)
  );
}

/** The filters of the log. */
export function LogFilterForm({ filters, onChange }: { filters: LogFilters; onChange: (changed: Partial<LogFilters>) => void }) {
  const isFiltered = Object.keys(parametersOf(filters)).length > 0;
  return (
    <Filters
      active={[filters.status, filters.from, filters.to].filter(Boolean).length}
      first={<SearchField label="Address, or its beginning" value={filters.email} onSearch={(email) => onChange({ email })} />}
    >
      <StatusSelect value={filters.status} onChange={(status) => onChange({ status })} />
      <Field
        label="From day (UTC)"
        type="date"
        value={filters.from}
        max={filters.to || undefined}
        onChange={(event) => onChange({ from: event.target.value })}
      />
      <Field
        label="To day (UTC)"
        type="date"
        value={filters.to}
        min={filters.from || undefined}
        onChange={(event) => onChange({ to: event.target.value })}
      />
      {isFiltered && (
        <div className="sm:col-span-full">
          <Button variant="quiet" small className="-ml-3" onClick={() => onChange(NO_FILTERS)}>
            Clear filters
          </Button>
        </div>
      )}
    </Filters>
  );
}

function StatusSelect({ value, onChange }: { value: string; onChange: (status: string) => void }) {
  return (
    <Select label="Status" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All</option>
      {STATUSES.map(({ group, options }) => (
        <optgroup key={group} label={group}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </optgroup>
      ))}
    </Select>
  );
}
