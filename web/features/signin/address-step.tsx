import { useEffect, useRef, useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { rememberedAccounts } from '../../lib/remembered.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AddressForm } from './address-form.tsx';
import { Card, TargetLine } from './card.tsx';
import type { Destination } from './flow.ts';
import { RememberedList } from './remembered-list.tsx';
import { useTranslator } from './texts.ts';

/** Step 1: a remembered account, or an email address. */
export function AddressStep({
  target,
  destination,
  firstEmail,
  chooses = false,
  onTyping,
  onSend,
}: {
  target: SignInBoot['target'];
  destination: Destination | null;
  firstEmail: string;
  /** Whether the application asks for a choice of account. */
  chooses?: boolean;
  onTyping: () => void;
  /** Requests the email and shows step 2. Rejects when the request failed. */
  onSend: (email: string) => Promise<void>;
}) {
  const { t } = useTranslator();
  const portal = target.kind === 'portal';
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState(firstEmail);
  const [accounts, setAccounts] = useState(rememberedAccounts);
  // Only with a physical keyboard: that of a phone would cover half the page.
  const [focusFirst] = useState(() => accounts.length === 0 && firstEmail === '' && matchMedia('(pointer: fine)').matches);

  const [other, setOther] = useState(!chooses);
  const choosing = !other && accounts.length > 0;

  useEffect(() => {
    if (focusFirst) field.current?.focus();
  }, [focusFirst]);

  const typeAddress = (address: string) => {
    setOther(true);
    setEmail(address);
    // The field may be rendered only now.
    requestAnimationFrame(() => field.current?.focus());
  };

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(choosing ? 'auth.oidc_choose_title' : portal ? 'auth.portal_welcome' : 'auth.welcome')} />
      {!choosing && <p className="mt-1.5 text-muted">{t('auth.subtitle')}</p>}
      <RememberedList
        destination={destination}
        portal={portal}
        accounts={accounts}
        onChange={() => setAccounts(rememberedAccounts())}
        onNeedsMail={typeAddress}
      />
      {choosing ? (
        <Button variant="secondary" className="mt-4 w-full" onClick={() => typeAddress(email)}>
          {t('auth.oidc_other_address')}
        </Button>
      ) : (
        <AddressForm
          field={field}
          email={email}
          placeholder={t('auth.email_placeholder')}
          labels={[t(portal ? 'auth.send_magic_link_portal' : 'auth.send_magic_link'), t('auth.sending')]}
          fallback={portal ? 'auth.error_send_portal' : 'auth.error_send'}
          onChange={(typed) => {
            setEmail(typed);
            onTyping();
          }}
          onSend={onSend}
        />
      )}
      {portal && (
        <a
          href={paths.landing}
          className="-mb-3 mt-3 flex min-h-11 items-center justify-center gap-1.5 rounded-control text-sm text-muted hover:text-ink"
        >
          <BackIcon />
          {t('auth.back_to_home')}
        </a>
      )}
    </Card>
  );
}
