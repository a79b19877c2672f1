import { useState } from 'react';
import type { AuthorizationStep, SignInBoot } from '../../../contract/pages.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { dismissToast } from '../../ui/toast.tsx';
import { AddressStep } from './address-step.tsx';
import { Card, TargetLine } from './card.tsx';
import type { Destination, Flow } from './flow.ts';
import { deleteRefusal, storeRefusal } from './refusal.ts';
import { isMailboxLimit } from './requests.ts';
import { useTranslator } from './texts.ts';

// Step 2 and the request for an email are not in the first load: they are fetched while the address is typed.
async function loadMailStep() {
  const [{ MailStep }, { createFlow }] = await Promise.all([import('./mail-step.tsx'), import('./flow.ts')]);
  return { MailStep, createFlow };
}

type Begun = { MailStep: Awaited<ReturnType<typeof loadMailStep>>['MailStep']; flow: Flow };

/** What the application wants to know of the sign-in. */
export type Wanted = Extract<AuthorizationStep, { step: 'sign_in' }>;

/** /auth, /domain-auth and an authorization request: step 1 takes the email address, step 2 waits for the email. */
export function SignInPage({ target, wanted }: { target: SignInBoot['target']; wanted?: Wanted }) {
  const { language } = useTranslator();
  const [destination] = useState(() => destinationOf(target));
  const [begun, setBegun] = useState<Begun | null>(null);
  const [email, setEmail] = useState(wanted?.email ?? '');
  const [step, setStep] = useState<'address' | 'mail'>('address');

  const send = async (address: string) => {
    const { MailStep, createFlow } = await loadMailStep();
    const flow = begun?.flow ?? createFlow(destination);
    try {
      await flow.requestMail(address, language);
    } catch (error) {
      if (isMailboxLimit(error)) storeRefusal(address);
      throw error;
    }
    deleteRefusal();
    dismissToast();
    setBegun({ MailStep, flow });
    setEmail(address);
    setStep('mail');
  };

  if (target.kind === 'unsupported') return <Unsupported target={target} />;
  if (step === 'mail' && begun) {
    return <begun.MailStep target={target} flow={begun.flow} email={email} onOtherEmail={() => setStep('address')} />;
  }
  return (
    <AddressStep
      target={target}
      destination={destination}
      firstEmail={email}
      chooses={wanted?.chooseAccount}
      onTyping={() => loadMailStep().catch(() => {})}
      onSend={send}
    />
  );
}

/** Returns where the sign-in of this page leads; null: to the portal. */
function destinationOf(target: SignInBoot['target']): Destination | null {
  if (target.kind === 'application') return { interaction: target.interaction };
  const forward_url = new URLSearchParams(location.search).get('forward_url');
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
