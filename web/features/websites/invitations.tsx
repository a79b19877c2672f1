import { useLocation } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { errorText } from '../../lib/api.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { timeUntil } from '../../lib/dates.ts';
import { websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { WEBSITES } from './website.ts';

/** The invitations of the account to manage websites of others; nothing while there are none. */
export function Invitations() {
  const { data: invitations } = useCall('listInvitations');
  if (!invitations || invitations.length === 0) return null;
  return (
    <section aria-label="Invitations" className="mb-8 divide-y divide-line rounded-panel border border-accent/35 bg-tint">
      {invitations.map((invitation) => (
        <InvitationRow key={invitation.id} invitation={invitation} />
      ))}
    </section>
  );
}

function InvitationRow({ invitation }: { invitation: Output<'listInvitations'>[number] }) {
  const { id, domain, displayDomain, role, invitedBy, expiresAt } = invitation;
  const accept = useAct('acceptInvitation', WEBSITES);
  const decline = useAct('declineInvitation', { refreshes: ['listInvitations'] });
  const [, navigate] = useLocation();
  const onError = (error: Error) => toastFailure('The invitation could not be changed', errorText(error, 'Try again.'));
  const onAccepted = () => {
    navigate(websitePath(domain));
    toast(`You manage ${displayDomain}`);
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
          busy={accept.isPending}
          disabled={decline.isPending}
          onClick={() => accept.mutate({ id }, { onSuccess: onAccepted, onError })}
          aria-label={`Accept the invitation to ${displayDomain}`}
        >
          Accept
        </Button>
        <Button
          small
          variant="secondary"
          busy={decline.isPending}
          disabled={accept.isPending}
          onClick={() => decline.mutate({ id }, { onSuccess: () => toast('Invitation declined', displayDomain), onError })}
          aria-label={`Decline the invitation to ${displayDomain}`}
        >
          Decline
        </Button>
      </div>
    </div>
  );
}
