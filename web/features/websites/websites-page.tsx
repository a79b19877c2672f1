import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { ApiError } from '../../../contract/client.ts';
import { domainInput, LOCALHOST, normalHost } from '../../../contract/urls.ts';
import { api, errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { type ListState, listPath, listStateOf, websitesQuery } from '../../lib/url-state.ts';
import { websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Dialog, FormDialog, useAddParameter } from '../../ui/dialog.tsx';
import { DomainField } from '../../ui/field.tsx';
import { PlusIcon } from '../../ui/icons.tsx';
import { isThisComputer, LocalhostNote } from '../../ui/local-mode.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { DeleteDialog, MoveDialog } from './guarded-dialogs.tsx';
import { IconField, useIcon } from './icon-field.tsx';
import { type Claim, domainFault, type ListedWebsite, WEBSITES, type Website } from './website.ts';
import { Proof } from './website-actions.tsx';
import { WebsiteList, WebsiteListLoading } from './website-list.tsx';

type Open = { dialog: 'add' } | { dialog: 'edit' | 'delete'; website: ListedWebsite };

/** /developer-email-auth: the websites of the account. */
export function WebsitesPage() {
  const [query] = useSearchParams();
  const [, navigate] = useLocation();
  const state = listStateOf(query);
  const show = (change: Partial<ListState>, replace = false) => navigate(listPath({ ...state, page: 1, ...change }), { replace });
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({ ...websitesQuery(state), placeholderData: keepPreviousData });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const add = () => setOpen({ dialog: 'add' });
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
      {!data && !error && <WebsiteListLoading />}
      {data && (data.total > 0 || state.q !== '') && (
        <WebsiteList
          state={state}
          found={data}
          busy={isPlaceholderData}
          onShow={show}
          onEdit={(website) => setOpen({ dialog: 'edit', website })}
          onDelete={(website) => setOpen({ dialog: 'delete', website })}
        />
      )}
      {data && state.q === '' && countOfOwn(data) === 0 && (
        <div className={cx(data.total > 0 && 'mt-6')}>
          <Empty
            title="No Websites Added"
            text="Add the domain of your site. It can then send its visitors to the sign-in page and gets a token for each one who signs in."
          >
            <Button variant="secondary" onClick={add}>
              Add Your First Website
            </Button>
          </Empty>
        </div>
      )}
      {open?.dialog === 'add' && <WebsiteDialog website={null} onClose={close} />}
      {open?.dialog === 'edit' && <WebsiteDialog website={open.website} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteDialog website={open.website} onClose={close} />}
    </>
  );
}

/** Returns how many websites were added; `localhost` of local mode was not. Exact up to one page. */
const countOfOwn = ({ total, websites }: Output<'searchWebsites'>) => total - (websites.some(({ domain }) => domain === LOCALHOST) ? 1 : 0);

/**
 * Adds a website, which ends on its page with the code, or changes one; another domain is confirmed before the website moves there. A
 * domain that another account has registered can be claimed by a proof.
 */
function WebsiteDialog({ website, onClose }: { website: ListedWebsite | null; onClose: () => void }) {
  const save = useAct(website ? 'updateWebsite' : 'createWebsite', WEBSITES);
  const claim = useAct('claimWebsite');
  const field = useRef<HTMLInputElement>(null);
  const icon = useIcon(website?.iconUrl ?? null);
  const [domain, setDomain] = useState(website?.displayDomain ?? '');
  const shortened = domainInput(domain);
  const [own, setOwn] = useState<Website | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [, navigate] = useLocation();
  const [moving, setMoving] = useState(false);
  const isLocal = isThisComputer(domain);
  const adding = website === null;
  const isMove = website !== null && normalHost(shortened) !== null && normalHost(shortened) !== website.domain;
  const changedIcon = icon.iconUrl === (website?.iconUrl ?? null) ? undefined : icon.iconUrl;
  const busy = save.isPending || claim.isPending || icon.upload !== null;

  const title = adding ? 'Failed to add website' : 'Failed to update website';
  const fallback = adding ? 'Failed to create website' : 'Failed to update website';

  /** Shows the account's own website of a domain that is taken, or how to claim the domain. */
  const explainTaken = async (input: string) => {
    const found = await api.readWebsite({ domain: input }).catch(() => null);
    if (found) setOwn(found);
    else claim.mutate({ domain: input });
  };

  const submit = async () => {
    const input = shortened;
    if (adding && isLocal) return navigate(websitePath(LOCALHOST, 'setup'));
    setDomain(input);
    const wrong = domainFault(input);
    setFault(wrong);
    if (wrong) return field.current?.focus();
    if (website && normalHost(input) !== website.domain) return setMoving(true);
    try {
      const change = { domain: input, ...(changedIcon !== undefined && { iconUrl: changedIcon }) };
      const saved = await save.mutateAsync(website ? { id: website.id, ...change } : change);
      onClose();
      if (adding) toast('Website added successfully', `${saved.displayDomain} is whitelisted for email authentication.`);
      else toast('Website updated successfully', saved.displayDomain);
      if (adding) navigate(websitePath(saved.domain, 'setup'));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'domain_taken' && adding) return explainTaken(input);
      if (error instanceof ApiError && error.field === 'domain') setFault(error.message);
      // The reason is in the dialog, where it stays.
      toastFailure(title);
    }
  };

  if (claim.data) return <ClaimDialog claim={claim.data} onClose={onClose} />;
  if (website && moving) return <MoveDialog website={website} to={domain} iconUrl={changedIcon} onClose={onClose} />;
  const failure = claim.error ?? save.error;
  return (
    <FormDialog
      title={adding ? 'Add New Website' : 'Edit Website'}
      first={field}
      action="Save"
      busy={busy}
      failure={failure && !fault && !own && errorText(failure, fallback)}
      onSubmit={submit}
      onClose={onClose}
    >
      {own && (
        <p role="alert" className="rounded-control border border-line bg-sunk px-4 py-3 text-sm wrap-anywhere">
          {own.displayDomain} is one of your websites already.{' '}
          <Link href={websitePath(own.domain)} className="text-accent underline underline-offset-2">
            Open it
          </Link>
        </p>
      )}
      <DomainField
        ref={field}
        label="Domain"
        placeholder="example.com"
        hint="Enter the domain without protocol, subdomain or path."
        value={domain}
        readOnly={website?.role === 'member'}
        error={fault}
        note={
          (adding && isLocal && <LocalhostNote />) ||
          (isMove && `Save asks first: the website moves there, and its sign-in at ${website.displayDomain} ends.`) ||
          (shortened !== domain.trim() && `Shortened to the root domain: ${shortened}`)
        }
        onChange={(event) => {
          setDomain(event.target.value);
          setFault(null);
          setOwn(null);
        }}
      />
      <IconField icon={icon} />
    </FormDialog>
  );
}

function ClaimDialog({ claim, onClose }: { claim: Claim; onClose: () => void }) {
  const [, navigate] = useLocation();
  return (
    <Dialog title={`Claim ${claim.domain}`} onClose={onClose}>
      <p className="mb-5 text-[0.9375rem] text-muted">
        This domain is already registered. If it is yours, verify it in one of two ways: the whole registration then moves to your address
        at once.
      </p>
      <Proof
        domain={claim.domain}
        proof={claim.proof}
        onProven={() => {
          onClose();
          toast('Website added successfully', `${claim.domain} is verified and yours.`);
          navigate(websitePath(claim.domain, 'setup'));
        }}
      />
    </Dialog>
  );
}
