import { type FormEvent, useRef, useState } from 'react';
import { redirectUriFault } from '../../../contract/rules.ts';
import { wordsOf } from '../../lib/failure.ts';
import { toast } from '../../lib/toast.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Switch } from '../../ui/switch.tsx';
import { type Application, useSaveApplication } from './queries.ts';
import { type RedirectUri, RedirectUris } from './redirect-uris.tsx';

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
      // The fields are marked once the faults stand beside them.
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
        {save.error && !save.isPending && <Alert>{wordsOf(save.error, 'The application could not be saved.')}</Alert>}
        <Field
          ref={first}
          label="Name"
          name="name"
          required
          maxLength={80}
          autoComplete="off"
          placeholder="Notes for the team"
          hint="Only you see it: mails name the host of the redirect URI."
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
            hint="Switched off, nobody signs in through it, and its tokens and open sign-ins end at once."
            checked={isActive}
            onChange={(event) => setActive(event.target.checked)}
          />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={save.isPending}>
            {application ? 'Save' : 'Create Application'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function faultOf(uri: string): string | null {
  if (uri === '') return 'Redirect URI is required';
  const fault = redirectUriFault(uri);
  return fault && `This ${fault}.`;
}
