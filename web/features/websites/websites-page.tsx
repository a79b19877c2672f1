import { useState } from 'react';
import { useAdd } from '../../lib/use-add.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Failed } from '../../ui/failed.tsx';
import { PlusIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading } from '../../ui/rows.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { ProofDialog } from './proof-dialog.tsx';
import { useWebsites, type Website } from './queries.ts';
import { useWebsiteStats } from './stats.ts';
import { TryDialog } from './try-dialog.tsx';
import { WebsiteDialog } from './website-dialog.tsx';
import { WebsiteRow } from './website-row.tsx';

type Open = { dialog: 'save'; website: Website | null } | { dialog: 'try' | 'prove' | 'delete'; website: Website };

/** /developer-email-auth: the developer's websites. */
export function WebsitesPage() {
  const { data: websites, error, isFetching, refetch } = useWebsites();
  const figures = useWebsiteStats();
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const add = () => setOpen({ dialog: 'save', website: null });
  useAdd('website', add);

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
      {error && <Failed error={error} fallback="Your websites could not be loaded." isFetching={isFetching} refetch={refetch} />}
      {!websites && !error && <RowsLoading what="your websites" />}
      {websites?.length === 0 && (
        <Empty
          title="No Websites Added"
          text="Add the domain of your site. From then on it may send its visitors to the sign-in page, and gets a token for each who signs in."
        >
          <Button look="secondary" onClick={add}>
            Add Your First Website
          </Button>
        </Empty>
      )}
      {websites && websites.length > 0 && (
        <Rows>
          {websites.map((website) => (
            <WebsiteRow
              key={website.id}
              website={website}
              figures={figures.data?.get(website.id)}
              statsFailed={figures.isError}
              onTry={() => setOpen({ dialog: 'try', website })}
              onProve={() => setOpen({ dialog: 'prove', website })}
              onEdit={() => setOpen({ dialog: 'save', website })}
              onDelete={() => setOpen({ dialog: 'delete', website })}
            />
          ))}
        </Rows>
      )}
      {open?.dialog === 'save' && <WebsiteDialog website={open.website} onClose={close} />}
      {open?.dialog === 'try' && <TryDialog website={open.website} onClose={close} />}
      {open?.dialog === 'prove' && <ProofDialog website={open.website} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteDialog website={open.website} onClose={close} />}
    </>
  );
}
