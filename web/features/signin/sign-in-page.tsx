import { useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { dismissToast } from '../../ui/toast.tsx';
import { AddressStep, type Wanted } from './address-step.tsx';
import { useBoot } from './boot.ts';
import { Card, TargetLine } from './card.tsx';
import { createFlow, type Destination, type Flow } from './flow.ts';
import { MailStep } from './mail-step.tsx';
import { deleteRefusal, storeRefusal } from './refusal.ts';
import { isMailboxLimit } from './requests.ts';
import { useTranslator } from './texts.ts';

/** /auth, /domain-auth and an authorization request: step 1 takes the email address, step 2 waits for the email. */
export function SignInPage({ target, wanted }: { target: SignInBoot['target']; wanted?: Wanted }) {
  const { language } = useTranslator();
  const { search } = useBoot();
  const [destination] = useState(() => destinationOf(target, search));
  const [flow] = useState<Flow>(() => createFlow(destination));
  const [email, setEmail] = useState(wanted?.email ?? '');
  const [step, setStep] = useState<'address' | 'mail'>('address');

  const send = async (address: string) => {
    try {
      await flow.requestMail(address, language);
    } catch (error) {
      if (isMailboxLimit(error)) storeRefusal(address);
      throw error;
    }
    deleteRefusal();
    dismissToast();
    setEmail(address);
    setStep('mail');
  };

  if (target.kind === 'unsupported') return <Unsupported target={target} />;
  if (step === 'mail') return <MailStep target={target} flow={flow} email={email} onOtherEmail={() => setStep('address')} />;
  return <AddressStep target={target} destination={destination} firstEmail={email} wanted={wanted} onSend={send} />;
}

/** Returns where the sign-in of this page leads; null: to the portal. */
function destinationOf(target: SignInBoot['target'], search: string): Destination | null {
  if (target.kind === 'application') return { interaction: target.interaction };
  const forward_url = new URLSearchParams(search).get('forward_url');
  return forward_url === null ? null : { forward_url };
}

function Unsupported({ target }: { target: Extract<SignInBoot['target'], { kind: 'unsupported' }> }) {
  const { t } = useTranslator();
  const text =
    target.reason === 'bad_forward_url' ? t('auth.error_forward_url') : t('auth.not_supported_text', { domain: target.displayHost });
  return (
    <Card>
      {target.host && <TargetLine target={target} portalName="" />}
      <PageHeading title={t('auth.not_supported_title')} />
      <p className="mt-2 text-muted wrap-anywhere">{text}</p>
    </Card>
  );
}
