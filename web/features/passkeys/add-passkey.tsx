import { useMutation } from '@tanstack/react-query';
import { MAX_PASSKEYS } from '../../../contract/limits.ts';
import type { PasskeyCreationOptions } from '../../../contract/pages.ts';
import { api } from '../../lib/api.ts';
import { useCall } from '../../lib/calls.ts';
import { createPasskey, passkeyApi, signalUnknown } from '../../lib/passkeys.ts';
import { storeReturnPath } from '../../lib/storage.ts';
import { isApiError, type OwnTexts, type TextKey, translateError, useTranslator } from '../../lib/texts.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { isProofNeeded, proofPath } from '../../ui/proof-needed.tsx';
import { Alert, Failed, Skeleton } from '../../ui/states.tsx';

const failureTexts: OwnTexts = {
  passkey_expired: 'auth.passkeys_expired',
  bad_passkey: 'auth.passkeys_not_added',
};

/** Returns the texts of a query that failed, in the language of the page. */
export const failedTexts = (translator: ReturnType<typeof useTranslator>, error: unknown, fallback: TextKey) => ({
  reason: translateError(translator, error, fallback),
  retry: translator.t('auth.try_again'),
});

/**
 * Adds a passkey. The options are fetched before the button is shown: Safari opens its dialog only directly after a click.
 * @param onAdded receives the name of the passkey
 */
export function AddDialog({ email, onAdded, onClose }: { email: string; onAdded: (name: string) => void; onClose: () => void }) {
  const translator = useTranslator();
  const { t } = translator;
  const supported = passkeyApi() !== null;
  // Each opening of the dialog needs a challenge of its own.
  const options = useCall('passkeyOptions', {}, { enabled: supported, staleTime: 0, gcTime: 0 });
  const isTooOld = isProofNeeded(options.error);
  const isComplete = isApiError(options.error) && options.error.code === 'too_many';
  const refused = !supported || options.data?.options === null;
  const close = t('auth.passkeys_close_button');
  return (
    <Dialog title={t(isTooOld ? 'auth.passkeys_proof_title' : 'auth.passkeys_add_button')} closeLabel={close} onClose={onClose}>
      {refused ? (
        <Alert>{t('auth.passkeys_unsupported')}</Alert>
      ) : isTooOld ? (
        <ProofNeeded email={email} onCancel={onClose} />
      ) : isComplete ? (
        <Alert>{t('auth.passkeys_too_many', { count: String(MAX_PASSKEYS) })}</Alert>
      ) : options.error ? (
        <Failed {...options} texts={failedTexts(translator, options.error, 'auth.passkeys_not_added')} />
      ) : options.data?.options ? (
        <Creation email={email} options={options.data.options} onRenew={() => options.refetch()} onAdded={onAdded} onCancel={onClose} />
      ) : (
        <div data-loading className="grid gap-3 pb-16">
          <Skeleton className="h-4 w-full" />
          <Skeleton className="h-4 w-40" />
        </div>
      )}
    </Dialog>
  );
}

/** Leads through a sign-in that proves the address, and back to this page. */
function ProofNeeded({ email, onCancel }: { email: string; onCancel: () => void }) {
  const { t, language } = useTranslator();
  return (
    <div className="grid gap-5">
      <p className="text-muted wrap-anywhere">{t('auth.passkeys_proof_text', { email })}</p>
      <DialogButtons cancel={t('auth.cancel')} onCancel={onCancel}>
        <ButtonLink
          href={proofPath(email, language)}
          onClick={() => storeReturnPath(`${location.pathname}?${new URLSearchParams({ add: 'passkey', language })}`)}
        >
          {t('auth.passkeys_sign_in_button')}
        </ButtonLink>
      </DialogButtons>
    </div>
  );
}

function Creation({
  email,
  options,
  onRenew,
  onAdded,
  onCancel,
}: {
  email: string;
  options: PasskeyCreationOptions;
  onRenew: () => void;
  onAdded: (name: string) => void;
  onCancel: () => void;
}) {
  const translator = useTranslator();
  const { t, language } = translator;
  const add = useMutation({
    mutationFn: async () => {
      const credential = await createPasskey(options);
      return api.registerPasskey({ credential, language }).catch((error) => {
        // The device keeps a passkey that the service refused, unless the browser learns of it.
        if (error.status > 0) signalUnknown((options.rp as { id: string }).id, credential.id);
        throw error;
      });
    },
    onSuccess: ({ name }) => onAdded(name),
    // A challenge that was sent is used up.
    onError: (error) => isApiError(error) && onRenew(),
  });
  const failureOf = (error: unknown) => {
    if (isApiError(error)) return translateError(translator, error, 'auth.passkeys_not_added', failureTexts);
    const { name } = error as DOMException;
    if (name === 'InvalidStateError') return t('auth.passkeys_duplicate');
    return t(name === 'NotAllowedError' || name === 'AbortError' ? 'auth.passkeys_cancelled' : 'auth.passkeys_not_added');
  };
  return (
    <div className="grid gap-5">
      {add.error && !add.isPending && <Alert>{failureOf(add.error)}</Alert>}
      <p className="text-muted wrap-anywhere">{t('auth.passkeys_add_text', { email })}</p>
      <p role="status" className={add.isPending ? 'text-sm text-muted' : 'hidden'}>
        {add.isPending && t('auth.passkey_waiting')}
      </p>
      <DialogButtons cancel={t('auth.cancel')} onCancel={onCancel}>
        <Button busy={add.isPending} onClick={() => add.mutate()}>
          {t('auth.passkey_create_button')}
        </Button>
      </DialogButtons>
    </div>
  );
}
