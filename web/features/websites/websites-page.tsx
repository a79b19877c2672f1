import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { type ListState, listPath, listStateOf, websitesQuery } from '../../lib/preloaded-queries.ts';
import { Button } from '../../ui/button.tsx';
import { useAddParameter } from '../../ui/dialog.tsx';
import { PlusIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import type { Website } from './website.ts';
import { DeleteDialog, OpenIdDialog, ProofDialog, TryDialog } from './website-actions.tsx';
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
