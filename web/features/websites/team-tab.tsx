import { type FormEvent, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { ApiError } from '../../../contract/client.ts';
import { EMAIL_MESSAGES, emailFaultOf, readEmail } from '../../../contract/emails.ts';
import type { WebsiteRole } from '../../../contract/websites.ts';
import { errorText } from '../../lib/api.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { dayOf } from '../../lib/dates.ts';
import { useUser } from '../../lib/session.ts';
import { takeDraft } from '../../lib/storage.ts';
import { paths, websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, useAddParameter } from '../../ui/dialog.tsx';
import { EmailField, Select } from '../../ui/field.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { isProofNeeded, ProofNeeded } from '../../ui/proof-needed.tsx';
import { Alert, Badge, Failed } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { type TabProps, WEBSITES, type Website } from './website.ts';

type Member = Output<'listMembers'>[number];

const TEAM = { refreshes: ['listMembers'] } as const;

/** Who manages the website. Owners invite, change and remove; everybody else can leave. */
export function TeamTab({ website }: TabProps) {
  // Others accept invitations.
  const team = useCall('listMembers', { id: website.id }, { staleTime: 0 });
  const [removing, setRemoving] = useState<Member | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const isOwner = website.role === 'owner';
  return (
    <div className="grid gap-8">
      <p className="max-w-2xl text-[0.9375rem] leading-6 text-muted">
        A member sees everything of the website and changes its branding and its icon. An owner also moves and deletes it, exports and
        erases its visitors, and manages the team. The linked address is always an owner.
      </p>
      {isOwner && (
        <section aria-labelledby="invite">
          <h2 id="invite" className="mb-3 text-lg font-semibold tracking-tight">
            Invite by email
          </h2>
          {website.verified ? <InviteForm id={website.id} /> : <Unverified domain={website.domain} />}
        </section>
      )}
      <section aria-labelledby="team">
        <h2 id="team" className="mb-3 text-lg font-semibold tracking-tight">
          Team
        </h2>
        {team.error && <Failed {...team} fallback="The team could not be loaded." />}
        {!team.data && !team.error && <RowsLoading what="the team" />}
        {team.data && (
          <div ref={list} tabIndex={-1} className="outline-none">
            {team.data.length === 0 && <p className="text-muted">Every developer of this service in local mode manages localhost.</p>}
            <Rows>
              {team.data.map((member) => (
                <MemberRow
                  key={member.email}
                  member={member}
                  website={website}
                  canManage={isOwner && member.status !== 'linked'}
                  onRemove={() => setRemoving(member)}
                />
              ))}
            </Rows>
          </div>
        )}
      </section>
      {removing && (
        <RemoveDialog website={website} member={removing} onRemoved={() => list.current?.focus()} onClose={() => setRemoving(null)} />
      )}
    </div>
  );
}

function Unverified({ domain }: { domain: string }) {
  return (
    <p className="text-[0.9375rem] leading-6 text-muted">
      Only a website with a verified domain can have a team.{' '}
      <Link href={`${websitePath(domain, 'settings')}#proof`} className="text-accent underline underline-offset-2">
        Verify the domain
      </Link>
    </p>
  );
}

function MemberRow({
  member,
  website,
  canManage,
  onRemove,
}: {
  member: Member;
  website: Website;
  canManage: boolean;
  onRemove: () => void;
}) {
  const { email, role, status } = member;
  const { data: user } = useUser();
  const isSelf = user?.email === email;
  const isPending = status === 'invited' || status === 'expired';
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-64">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="font-medium wrap-anywhere">{email}</span>
          {isSelf && <Badge>You</Badge>}
          {isPending && <Badge>{status === 'invited' ? 'Invited' : 'Invitation expired'}</Badge>}
        </p>
        <p className="mt-0.5 text-sm text-muted wrap-anywhere">{historyOf(member)}</p>
      </div>
      <div className="flex flex-wrap items-center gap-x-1 gap-y-2">
        {canManage ? (
          <RoleSelect id={website.id} member={member} />
        ) : (
          <span className="text-sm sm:px-3">{role === 'owner' ? 'Owner' : 'Member'}</span>
        )}
        {canManage && isPending && <Resend id={website.id} member={member} />}
        {(canManage || (isSelf && status !== 'linked')) && (
          <Button
            variant="quiet"
            small
            className="hover:text-danger"
            onClick={onRemove}
            aria-label={isSelf ? `Leave the team of ${website.displayDomain}` : `Remove ${email}`}
          >
            {isSelf ? 'Leave' : 'Remove'}
          </Button>
        )}
      </div>
    </li>
  );
}

function historyOf({ status, invitedBy, invitedAt, joinedAt }: Member): string {
  if (status === 'linked') return 'Linked address: registered or verified the website';
  if (joinedAt) return `Joined ${dayOf(joinedAt)}, invited by ${invitedBy}`;
  return `Invited ${dayOf(invitedAt ?? undefined)} by ${invitedBy}`;
}

function RoleSelect({ id, member: { email, role } }: { id: string; member: Member }) {
  const change = useAct('changeMember', TEAM);
  return (
    <>
      {isProofNeeded(change.error) && !change.isPending && <ProofDialog email={email} onClose={() => change.reset()} />}
      <Select<WebsiteRole>
        label={`Role of ${email}`}
        hideLabel
        options={ROLES}
        value={change.isPending ? change.variables.role : role}
        onChange={({ target }) =>
          change.mutate(
            { id, email, role: target.value as WebsiteRole },
            {
              onSuccess: (changed) => toast('Role changed', `${email} is ${changed.role === 'owner' ? 'an owner' : 'a member'}.`),
              onError: (error) => isProofNeeded(error) || toastFailure('The role could not be changed', errorText(error, 'Try again.')),
            },
          )
        }
      />
    </>
  );
}

function Resend({ id, member: { email, role } }: { id: string; member: Member }) {
  const invite = useAct('inviteMember', TEAM);
  const resend = () =>
    invite.mutate(
      { id, email, role },
      {
        onSuccess: () => toast('Invitation sent', `${email} has seven days to accept it.`),
        onError: (error) => isProofNeeded(error) || toastFailure('The invitation could not be sent', errorText(error, 'Try again.')),
      },
    );
  return (
    <>
      {isProofNeeded(invite.error) && !invite.isPending && <ProofDialog email={email} onClose={() => invite.reset()} />}
      <Button variant="quiet" small busy={invite.isPending} onClick={resend} aria-label={`Send the invitation to ${email} again`}>
        Resend
      </Button>
    </>
  );
}

/** Shown when an address is to become an owner: the form of the page then has it. */
function ProofDialog({ email, onClose }: { email: string; onClose: () => void }) {
  return (
    <Dialog title={`${email} as an owner`} onClose={onClose}>
      <ProofNeeded form="member" values={{ email, role: 'owner' } satisfies RoleDraft} />
    </Dialog>
  );
}

function RemoveDialog({
  website,
  member: { email, status },
  onRemoved,
  onClose,
}: {
  website: Website;
  member: Member;
  onRemoved: () => void;
  onClose: () => void;
}) {
  const { data: user } = useUser();
  const isSelf = user?.email === email;
  const remove = useAct('removeMember', isSelf ? WEBSITES : TEAM);
  const [, navigate] = useLocation();
  const name = website.displayDomain;
  return (
    <ConfirmDialog
      title={isSelf ? `Leave ${name}` : `Remove ${email}`}
      action={isSelf ? 'Leave' : 'Remove'}
      failure="The team could not be changed."
      mutation={remove}
      input={{ id: website.id, email }}
      done={[isSelf ? `You left the team of ${name}` : `${email} was removed`]}
      onDone={isSelf ? () => navigate(paths.websites) : onRemoved}
      onClose={onClose}
    >
      {isSelf
        ? `You can no longer see or change ${name}. An owner can invite you again.`
        : status === 'joined'
          ? `${email} can no longer see or change ${name}. You can invite the address again.`
          : `The invitation of ${email} can no longer be accepted.`}
    </ConfirmDialog>
  );
}

/** What the roles are called, in a list of choices. */
const ROLES: readonly { value: WebsiteRole; label: string }[] = [
  { value: 'member', label: 'Member' },
  { value: 'owner', label: 'Owner' },
];

/** What was chosen before a sign-in. */
type RoleDraft = { email: string; role: WebsiteRole };

/** Invites an address to the team of a website. */
function InviteForm({ id }: { id: string }) {
  const invite = useAct('inviteMember', TEAM);
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<WebsiteRole>('member');
  useAddParameter('member', () => {
    const draft = takeDraft<RoleDraft>('member');
    setEmail(draft?.email ?? '');
    setRole(draft?.role ?? 'member');
    field.current?.focus();
  });
  const needsProof = isProofNeeded(invite.error) && !invite.isPending;
  const [fault, setFault] = useState<string | null>(null);
  const fail = (message: string) => {
    setFault(message);
    field.current?.focus();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (invite.isPending) return;
    if (!readEmail(email)) return fail(EMAIL_MESSAGES[emailFaultOf(email)]);
    invite.mutate(
      { id, email, role },
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
      {needsProof && <ProofNeeded form="member" values={{ email, role } satisfies RoleDraft} />}
      {invite.error && !invite.isPending && !fault && !needsProof && (
        <Alert>{errorText(invite.error, 'The invitation could not be sent.')}</Alert>
      )}
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
