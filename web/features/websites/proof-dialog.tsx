import { toast } from '../../lib/toast.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Proof } from './proof.tsx';
import type { Website } from './queries.ts';

/** How to prove a domain of one's own, so that nobody else can claim it and its daily limit falls away. */
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
