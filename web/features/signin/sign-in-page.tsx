import { useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { typedBefore } from '../../lib/typed.ts';
import { dismissToast } from '../../ui/toast.tsx';
import { AddressStep, type Wanted } from './address-step.tsx';
import { useBoot } from './boot.ts';
import { createFlow, type Destination } from './flow.ts';
import { MailStep } from './mail-step.tsx';
import { SignedInStep } from './signed-in-step.tsx';
import { beginAttempt, useStep, useSteps } from './steps.ts';
import { useTranslator } from './texts.ts';
import { Unsupported } from './unsupported.tsx';

/** /auth, /domain-auth and an authorization request: step 1 takes the email address, step 2 waits for the email. */
export function SignInPage({ target, wanted }: { target: SignInBoot['target']; wanted?: Wanted }) {
  const { language } = useTranslator();
  const { search } = useBoot();
  const steps = useSteps();
  const [destination] = useState(() => destinationOf(target, search));
  const [flow] = useState(() => createFlow(destination, steps.attempt?.state ?? null));
  const [attempt, setAttempt] = useState(steps.attempt);
  const [email, setEmail] = useState(() => typedBefore('email') ?? steps.email);
  const [step, go] = useStep(attempt !== null);

  const send = async (address: string) => {
    await flow.requestMail(address, language);
    dismissToast();
    setAttempt(beginAttempt(address, attempt));
  };

  const begin = async (address: string) => {
    await send(address);
    setEmail(address);
    go('code');
  };

  if (target.kind === 'unsupported') return <Unsupported target={target} />;
  if (step === 'signed_in' && steps.signedInAs) return <SignedInStep email={steps.signedInAs} />;
  if (step === 'code' && attempt)
    return (
      <MailStep
        target={target}
        flow={flow}
        attempt={attempt}
        onStatus={(status) => setAttempt((known) => known && { ...known, status })}
        onResend={() => send(attempt.email)}
        onOtherEmail={() => go('address')}
      />
    );
  return <AddressStep target={target} destination={destination} firstEmail={email} attempt={attempt} wanted={wanted} onSend={begin} />;
}

/** Returns where the sign-in of this page leads; null: to the portal. */
function destinationOf(target: SignInBoot['target'], search: string): Destination | null {
  if (target.kind === 'application') return { interaction: target.interaction };
  const forward_url = new URLSearchParams(search).get('forward_url');
  return forward_url === null ? null : { forward_url };
}
