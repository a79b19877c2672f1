import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import { normalDomain } from '../../../contract/rules.ts';
import { errorText } from '../../lib/api.ts';
import { paths, websitePath } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { DomainField } from '../../ui/field.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { useSaveWebsite, type Website } from './queries.ts';

/** What cannot be undone, for owners: moving a website to another domain and deleting it. */
export function DangerZone({ website }: { website: Website }) {
  const [open, setOpen] = useState<'move' | 'delete' | null>(null);
  const [, navigate] = useLocation();
  const close = () => setOpen(null);
  return (
    <section id="danger" aria-labelledby="danger-title" className="scroll-mt-6">
      <h2 id="danger-title" className="mb-4 text-lg font-semibold tracking-tight">
        Danger zone
      </h2>
      <ul className="divide-y divide-line rounded-panel border border-danger/40">
        <Row title="Move to another domain" text="Visitors of the present domain can no longer sign in. Statistics stay with the website.">
          <Button variant="danger" onClick={() => setOpen('move')}>
            Move website
          </Button>
        </Row>
        <Row title="Delete the website" text="Ends every sign-in to it. Its statistics, branding, visitors and team are deleted.">
          <Button variant="danger" onClick={() => setOpen('delete')}>
            Delete website
          </Button>
        </Row>
      </ul>
      {open === 'move' && <MoveDialog website={website} onClose={close} />}
      {open === 'delete' && (
        <DeleteDialog website={website} onDeleted={() => navigate(paths.websites, { replace: true })} onClose={close} />
      )}
    </section>
  );
}

function Row({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-4 py-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <h3 className="text-[0.9375rem] font-medium">{title}</h3>
        <p className="mt-0.5 text-sm leading-6 text-muted">{text}</p>
      </div>
      {children}
    </li>
  );
}

type DialogProps = { website: Website; onClose: () => void };

function MoveDialog({ website, onClose }: DialogProps) {
  const save = useSaveWebsite(website);
  const [, navigate] = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const [domain, setDomain] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    const input = domain.trim();
    const wrong = faultOf(input, website);
    setFault(wrong);
    if (wrong) return field.current?.focus();
    save.mutate(
      { domain: input },
      {
        onSuccess: (moved) => {
          onClose();
          toast('Website moved', moved.displayDomain);
          navigate(websitePath(moved.domain, 'settings'), { replace: true });
        },
        onError: (error) => {
          if (error instanceof ApiError && error.field === 'domain') setFault(errorText(error, ''));
        },
      },
    );
  };
  return (
    <Dialog title={`Move ${website.displayDomain}`} first={field} onClose={onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        {save.error && !fault && !save.isPending && <Alert>{errorText(save.error, 'The website could not be moved.')}</Alert>}
        <div className="grid gap-2 text-[0.9375rem] text-muted">
          <p>When the website moves, this ends at once for {website.displayDomain}:</p>
          <ul className="list-disc space-y-1 pl-5">
            <li>its sign-in page, and links, codes and tokens that were issued for it</li>
            <li>its verification: the new domain has to be verified again</li>
            <li>its log, which begins anew; invitations that were not accepted</li>
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
        <DialogButtons onCancel={onClose}>
          <Button type="submit" variant="danger" busy={save.isPending}>
            Move website
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

function faultOf(domain: string, website: Website): string | null {
  if (domain === '') return 'Domain is required';
  const host = normalDomain(domain);
  if (!host) return 'Domain must be in format domain.tld (e.g., example.com)';
  return host === website.domain ? 'This is its present domain.' : null;
}
