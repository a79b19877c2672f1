import type { ComponentProps, FormEvent } from 'react';
import { useRef } from 'react';
import type { BootForm, SignInBoot } from '../../../contract/pages.ts';
import { TargetLine } from './card.tsx';

export type Application = Extract<SignInBoot['target'], { kind: 'application' }>;

/** Returns the host of an application; the name of one on a device, which has no host. */
export const hostOf = (target: SignInBoot['target']) => (target.kind === 'application' ? target.displayHost || target.name : '');

/** The application of a step, where it is known. @param hostKnown false: its host is of a redirect URI that was rejected */
export function ClientLine({ target, hostKnown = true }: { target: SignInBoot['target']; hostKnown?: boolean }) {
  if (target.kind !== 'application') return null;
  return <TargetLine target={hostKnown ? target : { ...target, host: '', displayHost: '' }} portalName="" />;
}

/** A form that the browser submits with the fields of the service, once. `onSubmit` may prevent it. */
export function ServiceForm({ form, onSubmit, children, ...rest }: { form: BootForm } & ComponentProps<'form'>) {
  const sent = useRef(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    if (sent.current) return event.preventDefault();
    onSubmit?.(event as Parameters<NonNullable<typeof onSubmit>>[0]);
    sent.current = !event.defaultPrevented;
  };
  return (
    <form {...rest} method="post" action={form.action} onSubmit={submit}>
      {Object.entries(form.fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}
