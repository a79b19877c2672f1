import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { normalHost } from '../../../contract/rules.ts';
import { wordsOf } from '../../lib/failure.ts';
import { toast, toastFailure } from '../../lib/toast.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { IconField } from './icon-field.tsx';
import { Proof } from './proof.tsx';
import { type Claim, useClaim, useSaveWebsite, type Website } from './queries.ts';
import { useIcon } from './use-icon.ts';

/** Adds a website or changes one; a domain that somebody else has registered can be claimed by proof. */
export function WebsiteDialog({ website, onClose }: { website: Website | null; onClose: () => void }) {
  const save = useSaveWebsite(website);
  const claim = useClaim();
  const field = useRef<HTMLInputElement>(null);
  const icon = useIcon(website?.iconUrl ?? null);
  const [domain, setDomain] = useState(website?.displayDomain ?? '');
  const [fault, setFault] = useState<string | null>(null);
  const adding = website === null;
  const busy = save.isPending || claim.isPending || icon.sending !== null;

  const title = adding ? 'Failed to add website' : 'Failed to update website';
  const fallback = adding ? 'Failed to create website' : 'Failed to update website';

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const input = domain.trim();
    const wrong = faultOf(input);
    setFault(wrong);
    if (wrong) return field.current?.focus();
    try {
      await save.mutateAsync({ domain: input, ...(icon.iconUrl !== (website?.iconUrl ?? null) && { iconUrl: icon.iconUrl }) });
      onClose();
      if (adding) toast('Website added successfully', `${input} is whitelisted for email authentication.`);
      else toast('Website updated successfully', input);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'domain_taken' && adding) return claim.mutate(input);
      if (error instanceof ApiError && error.field === 'domain') setFault(error.message);
      toastFailure(title, error instanceof ApiError && error.explained ? error.message : fallback);
    }
  };

  if (claim.data) return <ClaimDialog claim={claim.data} onClose={onClose} />;
  const failure = claim.error ?? save.error;
  return (
    <Dialog title={adding ? 'Add New Website' : 'Edit Website'} first={field} onClose={onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        {failure && !fault && !claim.isPending && (
          <Alert>
            <strong className="font-medium">{title}.</strong> {wordsOf(failure, fallback)}
          </Alert>
        )}
        <Field
          ref={field}
          label="Domain"
          name="domain"
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          inputMode="url"
          placeholder="example.com"
          hint="Enter the domain without protocol, subdomain or path."
          value={domain}
          error={fault}
          onChange={(event) => {
            setDomain(event.target.value);
            setFault(null);
          }}
        />
        <IconField icon={icon} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function ClaimDialog({ claim, onClose }: { claim: Claim; onClose: () => void }) {
  return (
    <Dialog title={`Claim ${claim.domain}`} onClose={onClose}>
      <p className="mb-5 text-[0.9375rem] text-muted">
        This domain is already registered. If it is yours, prove it in one of two ways: it then moves to your address, at once and wholly.
      </p>
      <Proof
        domain={claim.domain}
        proof={claim.proof}
        onProven={() => {
          onClose();
          toast('Website added successfully', `${claim.domain} is verified and yours.`);
        }}
      />
    </Dialog>
  );
}

function faultOf(domain: string): string | null {
  if (domain === '') return 'Domain is required';
  return normalHost(domain) ? null : 'Domain must be in format domain.tld (e.g., example.com)';
}
