import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import type { Output } from '../../../contract/routes.ts';
import { api, errorText } from '../../lib/api.ts';
import { dayOf, timeAgo } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { fieldFault } from '../../ui/save-form.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';

type PasskeyList = Output<'listPasskeys'>;
type Passkey = PasskeyList['passkeys'][number];

const PASSKEYS = ['passkeys'];

/** Fetched at each mount: sign-ins elsewhere add passkeys. */
const usePasskeys = () => useQuery({ queryKey: PASSKEYS, queryFn: ({ signal }) => api.listPasskeys({}, { signal }), staleTime: 0 });

/** /passkeys: the passkeys of the address that is signed in. */
export function PasskeysPage() {
  return (
    <div className="max-w-2xl">
      <PageHeading title="Passkeys" />
      <p className="mt-1.5 mb-6 text-muted">
        A passkey signs you in without an email, at every website that uses this sign-in page. It is offered after a sign-in by email.
      </p>
      <Passkeys />
    </div>
  );
}

/** The passkeys of the account. Each can be renamed and removed. */
export function Passkeys() {
  const list = usePasskeys();
  const [renaming, setRenaming] = useState<Passkey | null>(null);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  if (list.error && !list.data) return <Failed {...list} fallback="Your passkeys could not be loaded." />;
  if (!list.data) return <RowsLoading what="your passkeys" />;
  return (
    <section aria-label="Your passkeys">
      {list.data.passkeys.length === 0 ? (
        <Empty title="No passkeys" text="After your next sign-in by email, a device that can keep a passkey offers one." />
      ) : (
        <Rows>
          {list.data.passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onRename={() => setRenaming(passkey)} onRemove={() => setRemoving(passkey)} />
          ))}
        </Rows>
      )}
      {renaming && <RenameDialog passkey={renaming} onClose={() => setRenaming(null)} />}
      {removing && <RemoveDialog passkey={removing} onClose={() => setRemoving(null)} />}
    </section>
  );
}

function PasskeyRow({ passkey, onRename, onRemove }: { passkey: Passkey; onRename: () => void; onRemove: () => void }) {
  const { name, synced, createdAt, lastUsedAt } = passkey;
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1 py-2 pr-2 pl-4 sm:pl-5">
      <div className="min-w-0 grow basis-44 py-1">
        <p className="font-medium wrap-anywhere">
          <bdi>{name}</bdi>
        </p>
        <p className="mt-0.5 text-sm text-muted">
          {synced ? 'Synced' : 'On one device'} · added {dayOf(createdAt)} ·{' '}
          {lastUsedAt ? `last used ${timeAgo(Date.parse(lastUsedAt), 'en')}` : 'never used'}
        </p>
      </div>
      <Button variant="quiet" small onClick={onRename} aria-label={`Rename ${name}`}>
        Rename
      </Button>
      <Button variant="quiet" small className="hover:text-danger" onClick={onRemove} aria-label={`Remove ${name}`}>
        Remove
      </Button>
    </li>
  );
}

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const queries = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(passkey.name);
  const rename = useMutation({
    mutationFn: () => api.renamePasskey({ id: passkey.id, name }),
    onSuccess: () => {
      onClose();
      return queries.invalidateQueries({ queryKey: PASSKEYS });
    },
    onError: () => field.current?.focus(),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!rename.isPending) rename.mutate();
  };
  return (
    <Dialog title="Rename the passkey" first={field} onClose={onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <Field
          ref={field}
          label="Name"
          name="name"
          autoComplete="off"
          maxLength={60}
          value={name}
          error={rename.error && (fieldFault(rename.error, 'name') ?? errorText(rename.error, 'The passkey was not renamed.'))}
          onChange={(event) => setName(event.target.value)}
        />
        <DialogButtons onCancel={onClose}>
          <Button type="submit" busy={rename.isPending}>
            Rename
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

function RemoveDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.removePasskey({ id: passkey.id }),
    onSuccess: (list) => {
      queries.setQueryData<PasskeyList>(PASSKEYS, list);
      void signalAccepted(list);
      toast('Passkey removed', passkey.name);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Remove ${passkey.name}?`}
      action="Remove"
      failure="The passkey was not removed."
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      It does not sign you in any more. An email always does, and the next one offers a new passkey.
    </ConfirmDialog>
  );
}

/** Newer than the types and some browsers. */
type Signals = {
  signalAllAcceptedCredentials?(options: { rpId: string; userId: string; allAcceptedCredentialIds: string[] }): Promise<void>;
};

/** Tells the browser which passkeys are left, so that it offers no removed one (WebAuthn Level 3 §5.1.10). */
async function signalAccepted({ rpId, userHandle, passkeys }: PasskeyList): Promise<void> {
  if (typeof PublicKeyCredential === 'undefined' || userHandle === null) return;
  const signals: Signals = PublicKeyCredential;
  const allAcceptedCredentialIds = passkeys.map(({ credentialId }) => credentialId);
  await signals.signalAllAcceptedCredentials?.({ rpId, userId: userHandle, allAcceptedCredentialIds }).catch(() => {});
}
