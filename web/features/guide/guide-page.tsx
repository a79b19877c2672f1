import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { FrameworkPicker } from '../../ui/framework-picker.tsx';
import { AssistantPrompt, Integration } from '../../ui/integration.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AssistantPrompts } from './assistant-prompts.tsx';
import { DocList } from './doc-list.tsx';
import { ManualSteps } from './manual-steps.tsx';

const DOMAIN = 'example.com';

const features = [
  { title: 'Magic Links', text: 'A mail with a link and a 6-digit code, good for 10 minutes, in five languages.' },
  { title: 'Domain Security', text: 'Only registered domains are served, and a link leads to the exact address that was asked for.' },
  { title: 'Token Verification', text: 'One GET from your server says whose token it is. Each token counts once, for one hour.' },
];

const security = [
  { title: 'Domain restriction', text: 'Only registered domains can use the service.' },
  { title: 'Single-use tokens', text: 'A token is verified once, within an hour, and for one site alone.' },
  { title: 'URL validation', text: 'Magic links redirect only to the exact URL that was requested.' },
  { title: 'Audit logging', text: 'Every sign-in and every change of a website is recorded.' },
];

const sections = [
  { id: 'overview', title: 'Overview' },
  { id: 'assistants', title: 'With an AI assistant' },
  { id: 'by-hand', title: 'By hand, in four steps' },
  { id: 'frameworks', title: 'In your framework' },
  { id: 'security', title: 'Security features' },
  { id: 'documentation', title: 'Documentation' },
] as const;

/** /webservices/email-auth: what the service does and how a site uses it. */
export function GuidePage() {
  // The page is drawn after the browser has looked for the section that its address names.
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <>
      <section className="max-w-3xl py-12 sm:py-20">
        <PageHeading title="Email Authentication" className="text-4xl leading-[1.1] sm:text-5xl">
          Email sign-in for any site
        </PageHeading>
        <p className="mt-5 max-w-xl text-lg leading-7 text-muted">
          Register a domain, add a link, verify a token. No library, no setup fees, no waiting: it takes under 2 minutes and is active at
          once.
        </p>
        <ButtonLink as={Link} href={paths.register} className="mt-8">
          Set Up Email Authentication in One Click
        </ButtonLink>
      </section>

      <div className="grid gap-x-14 border-t border-line lg:grid-cols-[11rem_minmax(0,1fr)]">
        <nav aria-label="On this page" className="hidden self-start pt-14 lg:sticky lg:top-0 lg:block">
          <ul className="-ml-3 text-sm">
            {sections.map(({ id, title }) => (
              <li key={id}>
                <a href={`#${id}`} className="flex min-h-10 items-center rounded-control px-3 text-muted hover:bg-sunk hover:text-ink">
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="min-w-0 max-w-3xl divide-y divide-line">
          <Section id="overview">
            <dl className="grid gap-6 sm:grid-cols-3">
              {features.map(({ title, text }) => (
                <div key={title}>
                  <dt className="font-medium">{title}</dt>
                  <dd className="mt-1.5 text-[0.9375rem] leading-6 text-muted">{text}</dd>
                </div>
              ))}
            </dl>
          </Section>

          <Section id="assistants" text="Choose what your site is built with and paste this into the assistant that writes it.">
            <div className="grid gap-5">
              <FrameworkPicker />
              <AssistantPrompt domain={DOMAIN} />
              <h3 className="mt-3 font-semibold tracking-tight">Example prompts</h3>
              <AssistantPrompts origin={location.origin} />
            </div>
          </Section>

          <Section id="by-hand">
            <ManualSteps domain={DOMAIN} />
          </Section>

          <Section id="frameworks" text="Login, callback, a protected page and logout: these files are what the steps above come to.">
            <Integration domain={DOMAIN} />
          </Section>

          <Section id="security">
            <dl className="divide-y divide-line border-y border-line">
              {security.map(({ title, text }) => (
                <div key={title} className="grid gap-x-6 gap-y-1 py-4 sm:grid-cols-[12rem_1fr]">
                  <dt className="font-medium">{title}</dt>
                  <dd className="text-[0.9375rem] leading-6 text-muted">{text}</dd>
                </div>
              ))}
            </dl>
            <ButtonLink as={Link} href={paths.register} className="mt-8">
              Register Domain
            </ButtonLink>
          </Section>

          <Section id="documentation" text="Each page is there as Markdown, too; llms.txt lists them for assistants.">
            <DocList />
          </Section>
        </div>
      </div>
    </>
  );
}

function Section({ id, text, children }: { id: (typeof sections)[number]['id']; text?: string; children: ReactNode }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="scroll-mt-4 py-10 sm:py-14">
      <h2 id={`${id}-title`} className="text-xl font-semibold tracking-tight">
        {sections.find((section) => section.id === id)?.title}
      </h2>
      {text && <p className="mt-1 text-[0.9375rem] leading-6 text-muted">{text}</p>}
      <div className="mt-6">{children}</div>
    </section>
  );
}
