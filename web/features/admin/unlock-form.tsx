import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { inSeconds, wordsOf } from '../../lib/failure.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { useUnlock } from './queries.ts';

/** Asks for the admin password. */
export function UnlockForm() {
  const unlock = useUnlock();
  const field = useRef<HTMLInputElement>(null);
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string | null>(null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (unlock.isPending) return;
    setFault(null);
    unlock.mutate(password, {
      onError: (error) => {
        setPassword('');
        setFault(faultOf(error));
        field.current?.focus();
      },
    });
  };

  return (
    <form noValidate onSubmit={submit} className="grid gap-5">
      <Field
        ref={field}
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        placeholder="Enter password"
        maxLength={512}
        value={password}
        error={fault}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button type="submit" busy={unlock.isPending}>
        {unlock.isPending ? 'Verifying...' : 'Access Dashboard'}
      </Button>
    </form>
  );
}

function faultOf(error: Error): string {
  const code = error instanceof ApiError ? error.code : null;
  if (error instanceof ApiError && code === 'rate_limited')
    return `Too many wrong passwords. You can try again ${inSeconds(error.retryAfter ?? 60, 'en')}.`;
  return code === 'bad_password' ? error.message : wordsOf(error, 'The password could not be checked.');
}
