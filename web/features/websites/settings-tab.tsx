import { type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useAct } from '../../lib/calls.ts';
import { paths, websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { SaveForm } from '../../ui/save-form.tsx';
import { toast } from '../../ui/toast.tsx';
import { DeleteDialog, MoveDialog } from './guarded-dialogs.tsx';
import { IconField, useIcon } from './icon-field.tsx';
import { type TabProps, WEBSITES, type Website } from './website.ts';
import { OpenIdOfWebsite, Proof } from './website-actions.tsx';

/** What can be changed of a website. */
export function SettingsTab({ website }: TabProps) {
  useScrollToHash();
  const { domain, displayDomain } = website;
  return (
    <div className="grid max-w-3xl gap-12">
      <Section
        id="proof"
        title="Verification"
        text="A verified domain has no daily limit, shows full addresses, and no one else can claim it."
      >
        {website.verified ? (
          <p className="flex items-center gap-2 text-[0.9375rem]">
            <CheckIcon className="size-4 text-accent" />
            {displayDomain} is verified.
          </p>
        ) : (
          <Proof domain={domain} proof={website.proof} onProven={() => toast('Domain verified', displayDomain)} />
        )}
      </Section>
      <Section id="icon" title="Icon" text="Shown on the sign-in page and in this portal.">
        <IconForm key={website.iconUrl} website={website} />
      </Section>
      <Section id="openid" title="OpenID Connect" text="Instead of the integration, for software that supports it.">
        <OpenIdOfWebsite website={website} />
      </Section>
      {website.role === 'owner' && <DangerZone website={website} />}
    </div>
  );
}

/** Scrolls to the section of the address, which is rendered after the browser looked for it. */
function useScrollToHash() {
  useEffect(() => {
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
}

function Section({ id, title, text, children }: { id: string; title: string; text: string; children: ReactNode }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="grid min-w-0 scroll-mt-6 gap-5">
      <div>
        <h2 id={`${id}-title`} className="text-lg font-semibold tracking-tight">
          {title}
        </h2>
        <p className="mt-1 text-[0.9375rem] leading-6 text-muted">{text}</p>
      </div>
      {children}
    </section>
  );
}

/** Changes the icon of a website. */
function IconForm({ website }: { website: Website }) {
  const save = useAct('updateWebsite', WEBSITES);
  const icon = useIcon(website.iconUrl);
  const onSave = () =>
    save.mutate(
      { id: website.id, domain: website.domain, iconUrl: icon.iconUrl },
      { onSuccess: () => toast('Website updated successfully', website.displayDomain) },
    );
  return (
    <SaveForm
      button="Save icon"
      changed={icon.iconUrl !== website.iconUrl}
      busy={save.isPending || icon.upload !== null}
      error={save.error}
      onSave={onSave}
      onDiscard={() => icon.reset()}
    >
      <IconField icon={icon} hideLabel />
    </SaveForm>
  );
}

/** What cannot be undone, for owners: moving a website to another domain and deleting it. */
function DangerZone({ website }: { website: Website }) {
  const [open, setOpen] = useState<'move' | 'delete' | null>(null);
  const [, navigate] = useLocation();
  const close = () => setOpen(null);
  return (
    <section id="danger" aria-labelledby="danger-title" className="scroll-mt-6">
      <h2 id="danger-title" className="mb-4 text-lg font-semibold tracking-tight">
        Danger zone
      </h2>
      <ul className="divide-y divide-line rounded-panel border border-danger/40">
        <DangerRow
          title="Move to another domain"
          text="Visitors of the present domain can no longer sign in. Statistics stay with the website."
        >
          <Button variant="danger" onClick={() => setOpen('move')}>
            Move website
          </Button>
        </DangerRow>
        <DangerRow title="Delete the website" text="Ends every sign-in to it. Its statistics, branding, visitors and team are deleted.">
          <Button variant="danger" onClick={() => setOpen('delete')}>
            Delete website
          </Button>
        </DangerRow>
      </ul>
      {open === 'move' && (
        <MoveDialog
          website={website}
          onMoved={({ domain }) => navigate(websitePath(domain, 'settings'), { replace: true })}
          onClose={close}
        />
      )}
      {open === 'delete' && (
        <DeleteDialog website={website} onDeleted={() => navigate(paths.websites, { replace: true })} onClose={close} />
      )}
    </section>
  );
}

function DangerRow({ title, text, children }: { title: string; text: string; children: ReactNode }) {
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
