import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { registeredPath } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { CheckIcon, OpenIcon } from '../../ui/icons.tsx';
import { toast } from '../../ui/toast.tsx';
import { DangerZone } from './danger-zone.tsx';
import { IconForm } from './icon-form.tsx';
import { OpenIdOfWebsite } from './openid-dialog.tsx';
import { Proof } from './proof.tsx';
import type { TabProps, Website } from './queries.ts';
import { testSignInUrl } from './sign-in-url.ts';
import { TryForm } from './try-dialog.tsx';

/** What can be changed of a website, how to connect it, and a test of both. */
export function SettingsTab({ website }: TabProps) {
  useScrollToHash();
  const { domain, displayDomain } = website;
  return (
    <div className="grid max-w-3xl gap-12">
      <Section id="test" title="Test sign-in" text="Sign in to your own website, as a visitor would.">
        <TestSignIn website={website} />
      </Section>
      <Section
        id="proof"
        title="Verification"
        text="A verified domain has no daily limit, shows full addresses, and nobody else can claim it."
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
      <Section
        id="integration"
        title="Integration"
        text="Send visitors to the sign-in page, and verify the token that they come back with."
      >
        <ButtonLink as={Link} href={registeredPath(domain)} variant="secondary" className="justify-self-start">
          Steps and code for {displayDomain}
        </ButtonLink>
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

function TestSignIn({ website }: { website: Website }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <div className="grid justify-items-start gap-3">
        <p className="text-[0.9375rem] leading-6">
          The token comes back to this portal, which shows it and verifies it as your server would. Your website does not accept such a
          token.
        </p>
        <ButtonLink href={testSignInUrl(location.origin, website.domain, 'en')} target="_blank" rel="noopener">
          Start a test sign-in
          <OpenIcon />
          <span className="sr-only">(in a new tab)</span>
        </ButtonLink>
      </div>
      <Disclosure summary="Test with your own callback">
        <div className="p-4">
          <TryForm website={website} field={field} />
        </div>
      </Disclosure>
    </>
  );
}
