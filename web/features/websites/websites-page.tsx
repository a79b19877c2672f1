import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { errorText } from '../../lib/api.ts';
import { type ListState, listPath, listStateOf, websitesQuery } from '../../lib/websites-list.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogButtons, useAddParameter } from '../../ui/dialog.tsx';
import { PlusIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Alert, Empty, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { OpenIdDialog } from './openid-dialog.tsx';
import { ProofDialog } from './proof.tsx';
import { useDeleteWebsite, type Website } from './queries.ts';
import { TryDialog } from './try-dialog.tsx';
import { WebsiteDialog } from './website-dialog.tsx';
import { WebsiteList } from './website-list.tsx';

type Open = { dialog: 'save'; website: Website | null } | { dialog: 'try' | 'openid' | 'prove' | 'delete'; website: Website };

/** /developer-email-auth: the websites of the account. */
export function WebsitesPage() {
  const [query] = useSearchParams();
  const [, navigate] = useLocation();
  const state = listStateOf(query);
  const show = (change: Partial<ListState>, replace = false) => navigate(listPath({ ...state, page: 1, ...change }), { replace });
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({ ...websitesQuery(state), placeholderData: keepPreviousData });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const add = () => setOpen({ dialog: 'save', website: null });
  useAddParameter('website', add);

  return (
    <>
      <PageHeading title="Email Authentication Service" />
      <p className="mt-1.5 text-muted">Secure OAuth 2.0 PKCE authentication with magic link emails</p>
      <div className="mt-8 mb-4 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">My Websites</h2>
        <Button onClick={add}>
          <PlusIcon />
          Add New Website
        </Button>
      </div>
      {error && <Failed error={error} fallback="Your websites could not be loaded." isFetching={isFetching} refetch={refetch} />}
      {!data && !error && <RowsLoading what="your websites" rows={6} />}
      {data?.total === 0 && state.q === '' && (
        <Empty
          title="No Websites Added"
          text="Add the domain of your site. It can then send its visitors to the sign-in page and gets a token for each one who signs in."
        >
          <Button variant="secondary" onClick={add}>
            Add Your First Website
          </Button>
        </Empty>
      )}
      {data && (data.total > 0 || state.q !== '') && (
        <WebsiteList
          state={state}
          found={data}
          busy={isPlaceholderData}
          onShow={show}
          onTry={(website) => setOpen({ dialog: 'try', website })}
          onOpenId={(website) => setOpen({ dialog: 'openid', website })}
          onProve={(website) => setOpen({ dialog: 'prove', website })}
          onEdit={(website) => setOpen({ dialog: 'save', website })}
          onDelete={(website) => setOpen({ dialog: 'delete', website })}
        />
      )}
      {open?.dialog === 'save' && <WebsiteDialog website={open.website} onClose={close} />}
      {open?.dialog === 'try' && <TryDialog website={open.website} onClose={close} />}
      {open?.dialog === 'openid' && <OpenIdDialog website={open.website} onClose={close} />}
      {open?.dialog === 'prove' && <ProofDialog website={open.website} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteDialog website={open.website} onClose={close} />}
    </>
  );
}

function DeleteDialog({ website, onClose }: { website: Website; onClose: () => void }) {
  const remove = useDeleteWebsite();
  const confirm = () =>
    remove.mutate(website.id, {
      onSuccess: () => {
        onClose();
        toast('Website deleted', website.displayDomain);
      },
    });
  return (
    <Dialog title={`Delete ${website.displayDomain}`} onClose={onClose}>
      <div className="grid gap-5">
        {remove.error && <Alert>Failed to delete website. {errorText(remove.error, '')}</Alert>}
        <p className="text-muted">
          Are you sure you want to delete this website? This action cannot be undone and will remove all email authentication access for
          this domain.
        </p>
        <DialogButtons onCancel={onClose}>
          <Button variant="danger" busy={remove.isPending} onClick={confirm}>
            Delete
          </Button>
        </DialogButtons>
      </div>
    </Dialog>
  );
}
