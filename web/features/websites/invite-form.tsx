import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { EMAIL_MESSAGE, normalEmail } from '../../../contract/rules.ts';
import type { WebsiteRole } from '../../../contract/websites.ts';
import { errorText } from '../../lib/api.ts';
import { Button } from '../../ui/button.tsx';
import { EmailField, Select } from '../../ui/field.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { useInvite } from './team-queries.ts';

/** What the roles are called, in a list of choices. */
export const ROLES: readonly { value: WebsiteRole; label: string }[] = [
  { value: 'member', label: 'Member' },
  { value: 'owner', label: 'Owner' },
];

/** Invites an address to the team of a website. */
export function InviteForm({ id }: { id: string }) {
  const invite = useInvite(id);
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<WebsiteRole>('member');
  const [fault, setFault] = useState<string | null>(null);
  const fail = (message: string) => {
    setFault(message);
    field.current?.focus();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (invite.isPending) return;
    if (!normalEmail(email)) return fail(EMAIL_MESSAGE);
    invite.mutate(
      { email, role },
      {
        onSuccess: (member) => {
          setEmail('');
          toast('Invitation sent', `${member.email} has seven days to accept it.`);
        },
        onError: (error) => error instanceof ApiError && error.field === 'email' && fail(error.message),
      },
    );
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      {invite.error && !invite.isPending && !fault && <Alert>{errorText(invite.error, 'The invitation could not be sent.')}</Alert>}
      <div className="grid items-start gap-3 sm:grid-cols-[1fr_9rem_auto]">
        <EmailField
          ref={field}
          label="Email address"
          autoComplete="off"
          value={email}
          error={fault}
          onChange={({ target }) => {
            setEmail(target.value);
            setFault(null);
          }}
        />
        <Select<WebsiteRole>
          label="Role"
          name="role"
          options={ROLES}
          value={role}
          onChange={({ target }) => setRole(target.value as WebsiteRole)}
        />
        <Button type="submit" busy={invite.isPending} className="sm:mt-[1.625rem]">
          Send invitation
        </Button>
      </div>
    </form>
  );
}
