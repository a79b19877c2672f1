import type { ReactNode } from 'react';
import { docGroups, docPath } from '../../../docs/pages.ts';
import { verifyRequest } from '../../../templates/render.ts';
import { useSite } from '../../lib/site.ts';
import { linkSnippet, redirectSnippet, responseSnippet, returnSnippet, verifySnippet } from '../../lib/snippets.ts';
import { paths } from '../../pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/copyable.tsx';
import { PageHeading, Step } from '../../ui/page-heading.tsx';
import { DOMAIN, GuideFiles, GuidePrompt } from './guide-code.tsx';

const features = [
  { title: 'Magic Links', text: 'An email with a link and a 6-digit code, valid for 10 minutes, in five languages.' },
  { title: 'Domain Security', text: 'Only registered domains are served, and a link leads to the exact address that was asked for.' },
  { title: 'Token Verification', text: 'One GET from your server tells whose token it is. Each token works once, within an hour.' },
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

/** /webservices/email-auth: what the service does and how a website uses it. @param search the search of the documentation */
export function GuidePage({ search }: { search: ReactNode }) {
  const { origin } = useSite();
  return (
    <>
      <section className="max-w-3xl py-12 sm:py-20">
        <PageHeading title="Email Authentication" className="text-4xl leading-[1.1] sm:text-5xl">
          Email <span className="whitespace-nowrap">sign-in</span> for any site
        </PageHeading>
        <p className="mt-5 max-w-xl text-lg leading-7 text-muted">
          Register a domain, add a link, verify a token. No library, no setup fees, no waiting: it takes under 2 minutes and is active at
          once.
        </p>
        <ButtonLink href={paths.register} className="mt-8">
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
              <div data-island="prompt">
                <GuidePrompt />
              </div>
              <h3 className="mt-3 font-semibold tracking-tight">Example prompts</h3>
              <AssistantPrompts origin={origin} />
            </div>
          </Section>

          <Section id="by-hand">
            <ManualSteps origin={origin} domain={DOMAIN} />
          </Section>

          <Section id="frameworks" text="Login, callback, a protected page and logout: these files are the steps above in code.">
            <div data-island="files">
              <GuideFiles />
            </div>
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
            <ButtonLink href={paths.register} className="mt-8">
              Register Domain
            </ButtonLink>
          </Section>

          <Section id="documentation" text="Each page is also available as Markdown; llms.txt lists them for assistants.">
            {search}
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

const promptsFor = (origin: string) => [
  `Add passwordless email sign-in to this site with the service at ${origin}. Read ${origin}/llms.txt first. Send visitors to ${origin}/auth with a forward_url on our domain that carries a state of our own, and verify the token on our server with GET /api/verify-token, naming our domain.`,
  `Protect the pages under /account: redirect visitors without a session to /login, and back to the requested page after a valid token.`,
  `Write tests for our email sign-in: a valid token, a used one, an expired one, one of another site, and a state that does not match.`,
];

/** Example prompts for an assistant. */
function AssistantPrompts({ origin }: { origin: string }) {
  return (
    <ul className="divide-y divide-line border-y border-line">
      {promptsFor(origin).map((prompt, index) => (
        <li key={prompt} className="flex items-start gap-2 py-2">
          <p className="min-w-0 grow py-2.5 text-[0.9375rem] leading-6 wrap-anywhere">{prompt}</p>
          <CopyButton text={prompt} what={`prompt ${index + 1}`} notice="Prompt copied" />
        </li>
      ))}
    </ul>
  );
}

/** The protocol in four steps, for developers who write the code themselves. */
function ManualSteps({ origin, domain }: { origin: string; domain: string }) {
  return (
    <ol className="grid gap-10">
      <Step number={1} title="Register your domain">
        <p>
          <a href={paths.register} className="text-ink underline underline-offset-4 hover:text-accent">
            Register the root domain
          </a>{' '}
          with a linked email. Only that email can log in and manage changes for the domain.
        </p>
      </Step>
      <Step number={2} title="Add a “Login with Email” button">
        <p>
          It leads to a route of yours, which redirects to the auth page with a <Code>forward_url</Code> on your domain and, if you like, a{' '}
          <Code>language</Code>: en, lt, lv, uk or ru. The state inside the <Code>forward_url</Code> ties the return to this browser.
        </p>
        <CodeBlock label="page.html" code={linkSnippet} />
        <CodeBlock label="/login" code={redirectSnippet(origin, domain)} />
      </Step>
      <Step number={3} title="Handle the redirect">
        <p>
          After the sign-in your visitor returns to the <Code>forward_url</Code>, exactly as you gave it, with one more parameter:{' '}
          <Code>token</Code>.
        </p>
        <CodeBlock label="request" code={returnSnippet(domain)} />
      </Step>
      <Step number={4} title="Verify the token in the background">
        <p>Send the request from your server, and always name your domain: a token of another site is then refused.</p>
        <CodeBlock label="/auth/callback" code={verifySnippet(origin, domain)} />
        <CodeBlock label="terminal" code={verifyRequest(origin, domain)} />
        <CodeBlock label="response.json" code={responseSnippet(domain)} />
      </Step>
    </ol>
  );
}

const Code = ({ children }: { children: string }) => (
  <code className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] text-ink wrap-anywhere">{children}</code>
);

const files = [
  { href: '/llms.txt', title: 'llms.txt' },
  { href: '/openapi.json', title: 'OpenAPI' },
  { href: '/skill.md', title: 'Skill' },
];

/** The pages of the documentation in their groups, and the files for assistants. */
function DocList() {
  return (
    <>
      {docGroups.map(({ title: group, pages }) => (
        <section key={group} className="mt-8 first:mt-0">
          <h3 className="font-semibold tracking-tight">{group}</h3>
          <ul className="mt-2 divide-y divide-line border-y border-line">
            {pages
              .filter(({ slug }) => slug !== 'overview')
              .map(({ slug, title, description }) => (
                <li key={slug} className="grid gap-x-6 py-2 sm:grid-cols-[12rem_1fr]">
                  <a href={docPath(slug)} className="flex min-h-11 items-center font-medium hover:text-accent">
                    {title}
                  </a>
                  <span className="text-[0.9375rem] leading-6 text-muted sm:py-2.5">{description}</span>
                </li>
              ))}
          </ul>
        </section>
      ))}
      <p className="mt-4 flex flex-wrap gap-x-6 text-[0.9375rem]">
        {files.map(({ href, title }) => (
          <a key={href} href={href} className="flex min-h-11 items-center underline decoration-edge underline-offset-4 hover:text-accent">
            {title}
          </a>
        ))}
      </p>
    </>
  );
}
