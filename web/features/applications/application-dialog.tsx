import { type FormEvent, useEffect, useRef, useState } from 'react';
import { redirectUriFault } from '../../../contract/rules.ts';
import { errorText } from '../../lib/api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { CrossIcon, PlusIcon } from '../../ui/icons.tsx';
import { Alert } from '../../ui/states.tsx';
import { Switch } from '../../ui/switch.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Application, useSaveApplication } from './queries.ts';

let nextKey = 0;
const rowOf = (uri: string): RedirectUri => ({ key: nextKey++, uri, fault: null });

/** Adds an application or changes one. */
export function ApplicationDialog({ application, onClose }: { application: Application | null; onClose: () => void }) {
  const save = useSaveApplication(application);
  const form = useRef<HTMLFormElement>(null);
  const first = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(application?.name ?? '');
  const [nameFault, setNameFault] = useState<string | null>(null);
  const [uris, setUris] = useState(() => (application?.redirectUris ?? ['']).map(rowOf));
  const [isActive, setActive] = useState(application?.isActive ?? true);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    const wrongName = name.trim() === '' ? 'Name is required' : null;
    const checked = uris.map((row) => ({ ...row, fault: faultOf(row.uri.trim()) }));
    setNameFault(wrongName);
    setUris(checked);
    if (wrongName || checked.some(({ fault }) => fault)) {
      // The fields are marked as invalid with the next render.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
      return;
    }
    save.mutate(
      { name: name.trim(), redirectUris: uris.map(({ uri }) => uri.trim()), isActive },
      {
        onSuccess: () => {
          onClose();
          if (application) toast('Application updated', name.trim());
          else toast('Application created', 'Its client ID is in the list.');
        },
      },
    );
  };

  return (
    <Dialog title={application ? `Configure ${application.name}` : 'New Application'} first={first} onClose={onClose}>
      <form ref={form} noValidate onSubmit={submit} className="grid gap-5">
        {save.error && !save.isPending && <Alert>{errorText(save.error, 'The application could not be saved.')}</Alert>}
        <Field
          ref={first}
          label="Name"
          name="name"
          required
          maxLength={80}
          autoComplete="off"
          placeholder="Notes for the team"
          hint="Only you see it: emails name the host of the redirect URI."
          value={name}
          error={nameFault}
          onChange={(event) => {
            setName(event.target.value);
            setNameFault(null);
          }}
        />
        <RedirectUris rows={uris} onChange={setUris} onAdd={() => setUris([...uris, rowOf('')])} />
        {application && (
          <Switch
            label="Active"
            hint="While it is off, it signs no one in. Its tokens and open sign-ins end at once."
            checked={isActive}
            onChange={setActive}
          />
        )}
        <DialogButtons onCancel={onClose}>
          <Button type="submit" busy={save.isPending}>
            {application ? 'Save' : 'Create Application'}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

function faultOf(uri: string): string | null {
  if (uri === '') return 'Redirect URI is required';
  const fault = redirectUriFault(uri);
  return fault && `This ${fault}.`;
}

/** One field. Its `key` stays the same while others are added and removed. */
type RedirectUri = { key: number; uri: string; fault: string | null };

const MAX_REDIRECT_URIS = 10;

/** One field for each redirect URI. The last field takes the focus after one was added or removed. */
function RedirectUris({ rows, onChange, onAdd }: { rows: RedirectUri[]; onChange: (rows: RedirectUri[]) => void; onAdd: () => void }) {
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
              hint={index === 0 ? 'Compared exactly; on localhost, 127.0.0.1 and [::1] any port matches.' : undefined}
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
      {rows.length < MAX_REDIRECT_URIS && (
        <Button variant="quiet" small className="-ml-3 justify-self-start" onClick={onAdd}>
          <PlusIcon />
          Add redirect URI
        </Button>
      )}
    </fieldset>
  );
}
