import { useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { CrossIcon, PlusIcon } from '../../ui/icons.tsx';

/** One field; `key` stays with it while others come and go. */
export type RedirectUri = { key: number; uri: string; fault: string | null };

const MOST = 10;

/** The redirect URIs of an application, a field each. A new field takes the focus; after a removal the last one does. */
export function RedirectUris({
  rows,
  onChange,
  onAdd,
}: {
  rows: RedirectUri[];
  onChange: (rows: RedirectUri[]) => void;
  onAdd: () => void;
}) {
  const last = useRef<HTMLInputElement>(null);
  const count = useRef(rows.length);
  useEffect(() => {
    if (count.current !== rows.length) last.current?.focus();
    count.current = rows.length;
  }, [rows.length]);

  return (
    <fieldset className="grid min-w-0 gap-4">
      <legend className="sr-only">Redirect URIs</legend>
      {rows.map(({ key, uri, fault }, index) => (
        <div key={key} className="flex items-start gap-1">
          <div className="min-w-0 grow">
            <Field
              ref={index === rows.length - 1 ? last : undefined}
              label={index === 0 ? 'Redirect URI' : `Redirect URI ${index + 1}`}
              name="redirect_uri"
              required
              mono
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              inputMode="url"
              placeholder="https://app.example.com/callback"
              hint={index === 0 ? 'Compared exactly; on localhost, 127.0.0.1 and [::1] any port will do.' : undefined}
              maxLength={1024}
              value={uri}
              error={fault}
              onChange={(event) => onChange(rows.map((row) => (row.key === key ? { ...row, uri: event.target.value, fault: null } : row)))}
            />
          </div>
          {rows.length > 1 && (
            <button
              type="button"
              aria-label={`Remove redirect URI ${index + 1}`}
              onClick={() => onChange(rows.filter((row) => row.key !== key))}
              className="mt-[1.625rem] grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
            >
              <CrossIcon />
            </button>
          )}
        </div>
      ))}
      {rows.length < MOST && (
        <Button look="quiet" small className="-ml-3 justify-self-start" onClick={onAdd}>
          <PlusIcon />
          Add redirect URI
        </Button>
      )}
    </fieldset>
  );
}
