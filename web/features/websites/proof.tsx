import { errorText } from '../../lib/api.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Claim, useClaim, useProveWebsite, type Website } from './queries.ts';

/** How to prove the domain of a website, which ends its daily limit and protects it against claims by others. */
export function ProofDialog({ website, onClose }: { website: Website; onClose: () => void }) {
  return (
    <Dialog title={`Verify ${website.displayDomain}`} onClose={onClose}>
      <p className="mb-5 text-[0.9375rem] text-muted">
        Prove in one of two ways that the domain is yours. A verified domain has no daily limit, and nobody else can claim it.
      </p>
      <Proof
        domain={website.domain}
        proof={website.proof}
        onProven={() => {
          onClose();
          toast('Domain verified', website.displayDomain);
        }}
      />
    </Dialog>
  );
}

/** The DNS record and the file that prove a domain, with a button that makes the service check them. */
export function Proof({ domain, proof: given, onProven }: { domain: string; proof: Claim['proof']; onProven: () => void }) {
  const prove = useProveWebsite();
  // The value changes when another account proves the domain in the meantime.
  const claim = useClaim();
  const proof = claim.data?.proof ?? given;
  return (
    <div className="grid gap-5">
      <section>
        <h3 className="mb-2 text-sm font-medium">Add a DNS record</h3>
        <dl className="divide-y divide-line rounded-control border border-line">
          <Value name="Name" value={proof.record} />
          <Value name="Type" value="TXT" />
          <Value name="Value" value={proof.value} />
        </dl>
      </section>
      <section>
        <h3 className="mb-2 text-sm font-medium">Or put a file on the site</h3>
        <dl className="divide-y divide-line rounded-control border border-line">
          <Value name="Address" value={proof.fileUrl} />
          <Value name="Content" value={proof.fileBody} />
        </dl>
      </section>
      {prove.error && !prove.isPending && <Alert>{errorText(prove.error, 'The proof could not be checked.')}</Alert>}
      <Button busy={prove.isPending} onClick={() => prove.mutate(domain, { onSuccess: onProven, onError: () => claim.mutate(domain) })}>
        {prove.isPending ? 'Checking...' : 'Check now'}
      </Button>
    </div>
  );
}

function Value({ name, value }: { name: string; value: string }) {
  return (
    <div className="grid grid-cols-[1fr_auto] items-center gap-x-3 pl-3 sm:grid-cols-[4rem_1fr_auto]">
      <dt className="pt-2 text-[0.8125rem] text-muted sm:pt-0">{name}</dt>
      <dd className="col-start-1 min-w-0 pb-2 font-mono text-[0.8125rem] leading-5 wrap-anywhere sm:col-start-2 sm:py-2.5">{value}</dd>
      <dd className="col-start-2 row-span-2 row-start-1 sm:col-start-3 sm:row-span-1">
        <CopyButton text={value} what={name.toLowerCase()} notice={`${name} copied`} />
      </dd>
    </div>
  );
}
