import { useEffect, useId, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Filters } from '../../ui/filters.tsx';
import { DownIcon } from '../../ui/icons.tsx';
import { type LogFilters, NO_FILTERS, parametersOf, STATUSES } from './log-filters.ts';

/** The address is searched when the typing pauses for so long. */
const TYPING_MS = 400;

/** The filters of the log. */
export function LogFilterForm({ filters, onChange }: { filters: LogFilters; onChange: (changed: Partial<LogFilters>) => void }) {
  const [email, setEmail] = useDebounced(filters.email, (text) => onChange({ email: text }));
  const isFiltered = Object.keys(parametersOf(filters)).length > 0;
  return (
    <Filters
      active={[filters.status, filters.from, filters.to].filter(Boolean).length}
      first={
        <Field
          label="Address"
          type="search"
          inputMode="email"
          placeholder="Any, or its beginning"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      }
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
          <Button
            variant="quiet"
            small
            className="-ml-3"
            onClick={() => {
              setEmail('');
              onChange(NO_FILTERS);
            }}
          >
            Clear filters
          </Button>
        </div>
      )}
    </Filters>
  );
}

function StatusSelect({ value, onChange }: { value: string; onChange: (status: string) => void }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        Status
      </label>
      <div className="relative">
        <select
          id={id}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="block h-11 w-full min-w-0 appearance-none rounded-control border border-edge/60 bg-panel pr-9 pl-3 text-base hover:border-edge"
        >
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
        </select>
        <DownIcon className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-muted" />
      </div>
    </div>
  );
}

/** Returns the text of a field, which follows `value`, and a setter after which `onPause` is called once the typing pauses. */
function useDebounced(value: string, onPause: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onPause);
  latest.current = onPause;
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    text,
    (typed) => {
      setText(typed);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(typed.trim()), TYPING_MS);
    },
  ];
}
