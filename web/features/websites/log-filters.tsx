import { useSearchParams } from 'wouter';
import type { Input } from '../../../contract/calls.ts';
import { EMAIL_METHODS, type EmailMethod, METHODS, type Method, methodNames, OTHER_METHODS, ofEmails } from '../../../contract/methods.ts';
import { SIGN_IN_STATES, type SignInState, signInStates, stateOf } from '../../../contract/sign-in-states.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { dayIn, Filters, SearchField } from '../../ui/filters.tsx';
import type { LiveEvent } from './live-events.tsx';

/**
 * What the URL of the log filters by. `status`: '', `problems`, a kind, a kind and a reason, or `sign_in` and a state; `from`, `to`: UTC
 * days, both included.
 */
export type LogFilters = { email: string; status: string; method: string; from: string; to: string };

type LogQuery = Omit<Input<'websiteLog'>, 'id' | 'before'>;

/** The filters of the whole log. */
export const NO_FILTERS: LogFilters = { email: '', status: '', method: '', from: '', to: '' };

/** Returns the status of the sign-ins that are in a state. */
export const statusOf = (state: SignInState) => `sign_in ${state}`;

type Option = { value: string; label: string };

const shortOf = (method: EmailMethod) => METHODS[method].short.toLowerCase();

/** The choices of the status, in groups: the states of sign-ins, the steps that one has, and what fails. */
const STATUSES: readonly { group: string; options: readonly Option[] }[] = [
  {
    group: 'Sign-ins that are now',
    options: signInStates.map((state) => ({ value: statusOf(state), label: SIGN_IN_STATES[state].label })),
  },
  {
    group: 'Sign-ins with the step',
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
    group: 'With the problem',
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
  const method = parameters.get('method') ?? '';
  return {
    email: parameters.get('email') ?? '',
    status: KNOWN.has(status) ? status : '',
    method: methodNames.includes(method as Method) ? method : '',
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
export function queryOf({ email, status, method, from, to }: LogFilters): LogQuery {
  const [kind, reason] = status.split(' ');
  return {
    ...(email !== '' && { email }),
    ...(kind === 'sign_in' && { state: reason as SignInState }),
    ...(kind === 'problems' && { problems: 'true' as const }),
    ...(!['', 'sign_in', 'problems'].includes(kind) && { kind, ...(reason && { reason }) }),
    ...(method !== '' && { method: method as Method }),
    ...(from !== '' && { from: `${from}T00:00:00.000Z` }),
    ...(to !== '' && { to: new Date(Date.parse(to) + 86_400_000).toISOString() }),
  };
}

/** Returns whether a sign-in passes the filters, as the service decides it. @param steps oldest first @param now Unix milliseconds */
export function passes(steps: readonly LiveEvent[], filters: LogFilters, now: number): boolean {
  const query = queryOf(filters);
  const [{ at }] = steps;
  const method = query.method && METHODS[query.method].event;
  return (
    (!query.email || steps.some(({ email }) => (email ?? '').toLowerCase().startsWith(query.email?.trim().toLowerCase() ?? ''))) &&
    (!query.kind || steps.some(({ kind, reason }) => kind === query.kind && (!query.reason || reason === query.reason))) &&
    (!query.problems || steps.some(({ level }) => level === 'problem')) &&
    (!query.state || stateOf(steps, now) === query.state) &&
    (!method || steps.some(({ kind, reason }) => kind === method.kind && reason === method.reason)) &&
    (!query.from || at >= query.from) &&
    (!query.to || at < query.to)
  );
}

/** The filters of the log. */
export function LogFilterForm({ filters, onChange }: { filters: LogFilters; onChange: (changed: Partial<LogFilters>) => void }) {
  const isFiltered = Object.keys(parametersOf(filters)).length > 0;
  return (
    <Filters
      active={[filters.status, filters.method, filters.from, filters.to].filter(Boolean).length}
      first={
        <div className="sm:col-span-full">
          <SearchField label="Address, or its beginning" value={filters.email} onSearch={(email) => onChange({ email })} />
        </div>
      }
    >
      <StatusSelect value={filters.status} onChange={(status) => onChange({ status })} />
      <Select label="Method" value={filters.method} onChange={(event) => onChange({ method: event.target.value })}>
        <option value="">All</option>
        {methodNames.map((method) => (
          <option key={method} value={method}>
            {METHODS[method].label}
          </option>
        ))}
      </Select>
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
    <Select label="State" value={value} onChange={(event) => onChange(event.target.value)}>
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
