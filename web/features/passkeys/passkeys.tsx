import { useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { MAX_PASSKEY_NAME_LENGTH } from '../../../contract/rules.ts';
import { useAct, useCall, useRefresh } from '../../lib/calls.ts';
import { dayOf, timeAgo } from '../../lib/dates.ts';
import { signalAccepted } from '../../lib/passkeys.ts';
import { type OwnTexts, translateError, useTranslator } from '../../lib/texts.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog, useAddParameter } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { AddDialog, failedTexts } from './add-passkey.tsx';

type Passkey = Output<'listPasskeys'>['passkeys'][number];

const MINUTE = 60_000;

const failureTexts: OwnTexts = { passkey_not_found: 'auth.passkeys_gone' };

/** The passkeys of the account. Each can be renamed and removed, and another one added. Fetched at each mount: sign-ins elsewhere add some. */
export function OwnPasskeys({ email }: { email: string }) {
  const translator = useTranslator();
  const { t } = translator;
  const refresh = useRefresh();
  const list = useCall('listPasskeys', {}, { staleTime: 0 });
  const [adding, setAdding] = useState<'by_button' | 'after_sign_in' | null>(null);
  const [renaming, setRenaming] = useState<Passkey | null>(null);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  useAddParameter('passkey', () => setAdding('after_sign_in'));
  if (list.error && !list.data) {
    return <Failed {...list} texts={failedTexts(translator, list.error, 'auth.passkeys_not_loaded')} />;
  }
  if (!list.data) return <RowsLoading label={t('auth.passkeys_loading')} />;
  const { passkeys } = list.data;
  // The sign-in may have offered the passkey itself.
  const wasAdded = adding === 'after_sign_in' && passkeys.some(({ createdAt }) => Date.now() - Date.parse(createdAt) < 2 * MINUTE);
  const added = (name: string) => {
    setAdding(null);
    toast(t('auth.passkeys_added'), name);
    return refresh('listPasskeys');
  };
  return (
    <>
      {passkeys.length === 0 ? (
        <Empty title={t('auth.passkeys_none_title')} text={t('auth.passkeys_none_text')} />
      ) : (
        <Rows>
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onRename={() => setRenaming(passkey)} onRemove={() => setRemoving(passkey)} />
          ))}
        </Rows>
      )}
      <Button variant={passkeys.length === 0 ? 'primary' : 'secondary'} className="mt-4" onClick={() => setAdding('by_button')}>
        {t('auth.passkeys_add_button')}
      </Button>
      {adding && !wasAdded && <AddDialog email={email} onAdded={added} onClose={() => setAdding(null)} />}
      {renaming && <RenameDialog passkey={renaming} onClose={() => setRenaming(null)} />}
      {removing && <RemoveDialog passkey={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function PasskeyRow({ passkey, onRename, onRemove }: { passkey: Passkey; onRename: () => void; onRemove: () => void }) {
  const { t, language } = useTranslator();
  const { name, synced, createdAt, lastUsedAt } = passkey;
  const facts = [
    t(synced ? 'auth.passkeys_synced' : 'auth.passkeys_one_device'),
    t('auth.passkeys_created', { date: dayOf(createdAt, language) }),
    lastUsedAt ? t('auth.passkeys_used', { when: timeAgo(Date.parse(lastUsedAt), language) }) : t('auth.passkeys_unused'),
  ];
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1 py-2 pr-2 pl-4 sm:pl-5">
      <div className="min-w-0 grow basis-full py-1 sm:basis-44">
        <p className="font-medium wrap-anywhere">
          <bdi>{name}</bdi>
        </p>
        <p className="mt-0.5 text-sm text-muted">
          {facts.map((fact, index) => (
            <span key={fact} className="inline-block pr-1">
              {fact}
              {index < facts.length - 1 && ' ·'}
            </span>
          ))}
        </p>
      </div>
      <div className="-ml-3 flex shrink-0 flex-wrap gap-x-2 sm:ml-0">
        <Button variant="quiet" small onClick={onRename} aria-label={t('auth.passkeys_rename_of', { name })}>
          {t('auth.passkeys_rename_button')}
        </Button>
        <Button variant="quiet" small className="hover:text-danger" onClick={onRemove} aria-label={t('auth.passkeys_remove_of', { name })}>
          {t('auth.passkeys_remove_button')}
        </Button>
      </div>
    </li>
  );
}

function useDialogLabels(): { cancel: string; close: string } {
  const { t } = useTranslator();
  return { cancel: t('auth.cancel'), close: t('auth.passkeys_close_button') };
}

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const translator = useTranslator();
  const { t } = translator;
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(passkey.name);
  const [isMissing, setMissing] = useState(false);
  const rename = useAct('renamePasskey', { refreshes: ['listPasskeys'] });
  const submit = () => {
    setMissing(name.trim() === '');
    if (name.trim() === '') field.current?.focus();
    else rename.mutate({ id: passkey.id, name }, { onSuccess: onClose, onError: () => field.current?.focus() });
  };
  const failure = rename.error && translateError(translator, rename.error, 'auth.passkeys_not_renamed', failureTexts);
  return (
    <FormDialog
      title={t('auth.passkeys_rename_title')}
      first={field}
      action={t('auth.passkeys_rename_button')}
      busy={rename.isPending}
      failure={null}
      labels={useDialogLabels()}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        ref={field}
        label={t('auth.passkeys_name_label')}
        name="name"
        autoComplete="off"
        maxLength={MAX_PASSKEY_NAME_LENGTH}
        value={name}
        error={isMissing ? t('auth.passkeys_name_missing') : failure}
        onChange={(event) => {
          setName(event.target.value);
          setMissing(false);
        }}
      />
    </FormDialog>
  );
}

function RemoveDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const translator = useTranslator();
  const { t } = translator;
  const remove = useAct('removePasskey', { refreshes: ['listPasskeys'] });
  const submit = () =>
    remove.mutate(
      { id: passkey.id },
      {
        onSuccess: (list) => {
          signalAccepted(list);
          toast(t('auth.passkeys_removed'), passkey.name);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={t('auth.passkeys_remove_title', { name: passkey.name })}
      action={t('auth.passkeys_remove_button')}
      danger
      busy={remove.isPending}
      failure={remove.error && translateError(translator, remove.error, 'auth.passkeys_not_removed', failureTexts)}
      labels={useDialogLabels()}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-muted">{t('auth.passkeys_remove_text')}</p>
    </FormDialog>
  );
}
