import { useState } from 'react';
import { wordsOf } from '../../lib/failure.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { PlusIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { ProofDialog } from './proof-dialog.tsx';
import { useWebsites, type Website } from './queries.ts';
import { WebsiteDialog } from './website-dialog.tsx';
import { WebsiteRow } from './website-row.tsx';

type Open = { dialog: 'save'; website: Website | null } | { dialog: 'delete' | 'prove'; website: Website };

/** /developer-email-auth: the developer's websites. */
export function WebsitesPage() {
  const { data: websites, error, isFetching, refetch } = useWebsites();
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const add = () => setOpen({ dialog: 'save', website: null });

  return (
    <>
      <PageHeading title="Email Authentication Service" />
      <p className="mt-1.5 text-muted">Secure OAuth 2.0 PKCE authentication with magic link emails</p>
      <div className="mt-10 mb-4 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">My Websites</h2>
        <Button onClick={add}>
          <PlusIcon />
          Add New Website
        </Button>
      </div>
      {websites && websites.length > 0 && (
        <ul className="divide-y divide-line rounded-panel border border-line bg-panel">
          {websites.map((website) => (
            <WebsiteRow
              key={website.id}
              website={website}
              onEdit={() => setOpen({ dialog: 'save', website })}
              onDelete={() => setOpen({ dialog: 'delete', website })}
              onProve={() => setOpen({ dialog: 'prove', website })}
            />
          ))}
        </ul>
      )}
      {websites?.length === 0 && <Empty onAdd={add} />}
      {!websites && !error && <Waiting />}
      {error && (
        <div className="grid gap-3">
          <Alert>{wordsOf(error, 'Your websites could not be loaded.')}</Alert>
          <Button look="secondary" className="justify-self-start" busy={isFetching} onClick={() => refetch()}>
            Try again
          </Button>
        </div>
      )}
      {open?.dialog === 'save' && <WebsiteDialog website={open.website} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteDialog website={open.website} onClose={close} />}
      {open?.dialog === 'prove' && <ProofDialog website={open.website} onClose={close} />}
    </>
  );
}

function Empty({ onAdd }: { onAdd: () => void }) {
  return (
    <div className="rounded-panel border border-dashed border-edge/60 px-5 py-14 text-center">
      <h3 className="font-semibold tracking-tight">No Websites Added</h3>
      <p className="mx-auto mt-1.5 max-w-sm text-[0.9375rem] text-muted">
        A website may send its visitors to the sign-in page as soon as its domain stands here.
      </p>
      <Button look="secondary" className="mt-5" onClick={onAdd}>
        Add Your First Website
      </Button>
    </div>
  );
}

function Waiting() {
  return (
    <div role="status" aria-label="Loading your websites" className="grid divide-y divide-line rounded-panel border border-line bg-panel">
      {['first', 'second'].map((row) => (
        <div key={row} className="flex items-center gap-4 p-5">
          <Skeleton className="size-9" />
          <div className="grid grow gap-2">
            <Skeleton className="h-4 w-40" />
            <Skeleton className="h-3 w-56" />
          </div>
        </div>
      ))}
    </div>
  );
}
