import { useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { normalDomain } from '../../../contract/urls.ts';
import { errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx';
import { DomainField } from '../../ui/field.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { domainFault, WEBSITES, type Website } from './website.ts';

/** What the dialogs need to know of a website. */
type Named = Pick<Website, 'id' | 'domain' | 'displayDomain'>;

/**
 * Moves a website to another domain, after what that ends was shown: the only way to do it.
 * @param to the new domain as it was typed @param iconUrl the new icon; undefined: it stays
 */
export function MoveDialog({
  website,
  to = '',
  iconUrl,
  onMoved,
  onClose,
}: {
  website: Named;
  to?: string;
  iconUrl?: string | null;
  onMoved?: (moved: Website) => void;
  onClose: () => void;
}) {
  const save = useAct('updateWebsite', WEBSITES);
  const field = useRef<HTMLInputElement>(null);
  const [domain, setDomain] = useState(to);
  const [fault, setFault] = useState<string | null>(null);
  const submit = () => {
    const input = domain.trim();
    const wrong = faultOfMove(input, website);
    setFault(wrong);
    if (wrong) return field.current?.focus();
    save.mutate(
      { id: website.id, domain: input, ...(iconUrl !== undefined && { iconUrl }) },
      {
        onSuccess: (moved) => {
          onClose();
          toast('Website updated successfully', moved.displayDomain);
          onMoved?.(moved);
        },
        onError: (error) => {
          // The reason is in the dialog, where it stays.
          toastFailure('Failed to update website');
          if (error instanceof ApiError && error.field === 'domain') setFault(errorText(error, ''));
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Move ${website.displayDomain}`}
      first={field}
      action="Move website"
      danger
      busy={save.isPending}
      failure={save.error && !fault && errorText(save.error, 'The website could not be moved.')}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="grid gap-2 text-[0.9375rem] text-muted">
        <p>When the website moves, this ends at once for {website.displayDomain}:</p>
        <ul className="list-disc space-y-1 pl-5">
          <li>its sign-in page, and links, codes and tokens that were issued for it</li>
          <li>its verification: the new domain has to be verified again</li>
          <li>its log, which starts empty; invitations that were not accepted</li>
        </ul>
        <p>Others can then register {website.displayDomain}.</p>
      </div>
      <DomainField
        ref={field}
        label="New domain"
        placeholder="example.com"
        value={domain}
        error={fault}
        onChange={(event) => {
          setDomain(event.target.value);
          setFault(null);
        }}
      />
    </FormDialog>
  );
}

function faultOfMove(domain: string, website: Named): string | null {
  return domainFault(domain) ?? (normalDomain(domain) === website.domain ? 'This is its present domain.' : null);
}

/** Deletes a website after its domain was typed. */
export function DeleteDialog({
  website: { id, domain, displayDomain },
  onDeleted,
  onClose,
}: {
  website: Named;
  onDeleted?: () => void;
  onClose: () => void;
}) {
  const remove = useAct('deleteWebsite', WEBSITES);
  return (
    <ConfirmDialog
      title={`Delete ${displayDomain}`}
      action="Delete website"
      failure="Failed to delete website."
      typed={[displayDomain, domain]}
      mutation={remove}
      input={{ id }}
      done={['Website deleted', displayDomain]}
      onDone={onDeleted}
      onClose={onClose}
    >
      Are you sure you want to delete this website? This action cannot be undone and will remove all email authentication access for this
      domain.
    </ConfirmDialog>
  );
}
