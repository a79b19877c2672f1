import { Switch as Radix } from 'radix-ui';
import { useEffect, useId, useRef } from 'react';
import { MAX_CLIENT_URI, MAX_CLIENT_URIS } from '../../../contract/limits.ts';
import { type IdentityScope, type ResourceScope, scopeText } from '../../../contract/scopes.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { CrossIcon, PlusIcon } from '../../ui/icons.tsx';

let nextKey = 0;

/** One field. Its `key` stays the same while others are added and removed. */
export type UriRow = { key: number; uri: string; fault: string | null };

/** Returns the rows of a form; one empty row when there must be one. */
export const rowsOf = (uris: readonly string[], required: boolean): UriRow[] =>
  (uris.length === 0 && required ? [''] : uris).map((uri) => ({ key: nextKey++, uri, fault: null }));

/** One field for each address. The last field takes the focus after one was added or removed. */
export function UriList({
  name,
  label,
  legend,
  placeholder,
  hint,
  required = false,
  rows,
  onChange,
}: {
  /** Of the input, for the browser. */
  name: string;
  /** Of one field: `Redirect URI`. */
  label: string;
  legend: string;
  placeholder: string;
  hint: string;
  /** Whether the first row cannot be removed. */
  required?: boolean;
  rows: UriRow[];
  onChange: (rows: UriRow[]) => void;
}) {
  const last = useRef<HTMLInputElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const count = useRef(rows.length);
  useEffect(() => {
    if (count.current !== rows.length) (last.current ?? add.current)?.focus();
    count.current = rows.length;
  }, [rows.length]);
  const what = label.replace(/^./, (first) => first.toLowerCase());

  return (
    <fieldset className="grid min-w-0 gap-4">
      <legend className="sr-only">{legend}</legend>
      {rows.map(({ key, uri, fault }, index) => (
        <div key={key} className="flex items-start gap-1">
          <div className="min-w-0 grow">
            <Field
              ref={index === rows.length - 1 ? last : undefined}
              label={index === 0 ? label : `${label} ${index + 1}`}
              name={name}
              required={required}
              mono
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              inputMode="url"
              placeholder={placeholder}
              hint={index === 0 ? hint : undefined}
              maxLength={MAX_CLIENT_URI}
              value={uri}
              error={fault}
              onChange={(event) => onChange(rows.map((row) => (row.key === key ? { ...row, uri: event.target.value, fault: null } : row)))}
            />
          </div>
          {(!required || rows.length > 1) && (
            <button
              type="button"
              aria-label={`Remove ${what} ${index + 1}`}
              onClick={() => onChange(rows.filter((row) => row.key !== key))}
              className="mt-[1.625rem] grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
            >
              <CrossIcon />
            </button>
          )}
        </div>
      ))}
      {rows.length < MAX_CLIENT_URIS && (
        <Button
          ref={add}
          variant="quiet"
          small
          className="-ml-3 justify-self-start"
          onClick={() => onChange([...rows, ...rowsOf([''], true)])}
        >
          <PlusIcon />
          Add {what}
        </Button>
      )}
    </fieldset>
  );
}

/** Returns the choices for a list of scopes. */
export const scopeOptions = <Name extends IdentityScope | ResourceScope>(scopes: readonly Name[]) =>
  scopes.map((scope) => ({ value: scope, label: scope, hint: scopeText(scope) }));

/** A setting that is on or off; screen readers read the hint with it. */
export function Switch({
  label,
  hint,
  checked,
  onChange,
}: {
  label: string;
  hint: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div>
      <div className="flex min-h-11 items-center justify-between gap-4 text-sm font-medium">
        <label htmlFor={id} className="flex min-h-11 grow cursor-pointer items-center">
          {label}
        </label>
        <Radix.Root
          id={id}
          checked={checked}
          onCheckedChange={onChange}
          aria-describedby={`${id}-hint`}
          className="group grid size-11 shrink-0 cursor-pointer place-items-center rounded-full"
        >
          <span className="relative block h-6 w-11 rounded-full bg-edge transition-colors group-data-[state=checked]:bg-accent forced-colors:border forced-colors:bg-[Canvas] forced-colors:group-data-[state=checked]:bg-[Highlight]">
            <Radix.Thumb className="absolute top-0.5 left-0.5 block size-5 rounded-full bg-panel transition-transform data-[state=checked]:translate-x-5 forced-colors:top-px forced-colors:left-px forced-colors:bg-[CanvasText] forced-colors:data-[state=checked]:bg-[HighlightText]" />
          </span>
        </Radix.Root>
      </div>
      <p id={`${id}-hint`} className="text-sm text-muted">
        {hint}
      </p>
    </div>
  );
}
