import { useRef } from 'react';
import { useLocation } from 'wouter';
import { errorText } from '../../lib/api.ts';
import { timeUntil } from '../../lib/dates.ts';
import { websitePath } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { type Invitation, useDecideInvitation, useInvitations } from './website.ts';

/** The invitations of the account to manage websites of others; nothing while there are none. */
export function Invitations() {
  const { data: invitations } = useInvitations();
  if (!invitations || invitations.length === 0) return null;
  return (
    <section aria-label="Invitations" className="mb-8 divide-y divide-line rounded-panel border border-accent/35 bg-tint">
      {invitations.map((invitation) => (
        <InvitationRow key={invitation.id} invitation={invitation} />
      ))}
    </section>
  );
}

function InvitationRow({ invitation }: { invitation: Invitation }) {
  const { id, domain, displayDomain, role, invitedBy, expiresAt } = invitation;
  const decide = useDecideInvitation();
  const [, navigate] = useLocation();
  // The button that is not pressed is disabled meanwhile, and the row is removed.
  const pressed = useRef<'accept' | 'decline'>(null);
  const answer = (accept: boolean) => {
    pressed.current = accept ? 'accept' : 'decline';
    decide.mutate(
      { id, accept },
      {
        onSuccess: () => {
          if (accept) navigate(websitePath(domain));
          toast(accept ? `You manage ${displayDomain}` : 'Invitation declined', accept ? undefined : displayDomain);
        },
        onError: (error) => toastFailure('The invitation could not be changed', errorText(error, 'Try again.')),
      },
    );
  };
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-3 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <h2 className="font-medium wrap-anywhere">You are invited to manage {displayDomain}</h2>
        <p className="mt-0.5 text-sm text-muted wrap-anywhere">
          By {invitedBy}, as {role === 'owner' ? 'an owner' : 'a member'}. Expires {timeUntil(Date.parse(expiresAt), 'en')}.
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          small
          busy={decide.isPending && pressed.current === 'accept'}
          disabled={decide.isPending && pressed.current === 'decline'}
          onClick={() => answer(true)}
          aria-label={`Accept the invitation to ${displayDomain}`}
        >
          Accept
        </Button>
        <Button
          small
          variant="secondary"
          busy={decide.isPending && pressed.current === 'decline'}
          disabled={decide.isPending && pressed.current === 'accept'}
          onClick={() => answer(false)}
          aria-label={`Decline the invitation to ${displayDomain}`}
        >
          Decline
        </Button>
      </div>
    </div>
  );
}
