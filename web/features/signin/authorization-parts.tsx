import type { ComponentProps, FormEvent } from 'react';
import { useRef } from 'react';
import type { BootForm, SignInBoot } from '../../../contract/pages.ts';
import { TargetLine } from './card.tsx';

/** The application of a step, where it is known. */
export const ClientLine = ({ target }: { target: SignInBoot['target'] }) =>
  target.kind === 'application' && <TargetLine target={target} portalName="" />;

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
