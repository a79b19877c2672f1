import { useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { CrossIcon, PlusIcon } from '../../ui/icons.tsx';

let nextKey = 0;

/** One field. Its `key` stays the same while others are added and removed. */
export type UriRow = { key: number; uri: string; fault: string | null };

/** Returns the rows of a form; one empty row when there must be one. */
export const rowsOf = (uris: readonly string[], required: boolean): UriRow[] =>
  (uris.length === 0 && required ? [''] : uris).map((uri) => ({ key: nextKey++, uri, fault: null }));

const MAX_URIS = 10;

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
              maxLength={1024}
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
      {rows.length < MAX_URIS && (
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
