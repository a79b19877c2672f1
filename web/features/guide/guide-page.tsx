import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { answerSnippet, linkSnippet, redirectSnippet, returnSnippet, verifyRequestSnippet, verifySnippet } from '../../lib/snippets.ts';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AssistantPrompts } from './assistant-prompts.tsx';

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

/** /webservices/email-auth: what the service does and how a site uses it. */
export function GuidePage() {
  const { origin } = location;
  return (
    <div className="mx-auto max-w-3xl">
      <section className="py-12 sm:py-20">
        <PageHeading title="Email Authentication" className="text-4xl leading-[1.1] sm:text-5xl">
          Email sign-in for any site
        </PageHeading>
        <p className="mt-5 max-w-xl text-lg leading-7 text-muted">
          Register a domain, add a link, verify a token. No library, no setup fee, no waiting: it takes under 2 minutes and is active at
          once.
        </p>
        <ButtonLink as={Link} href={paths.register} className="mt-8">
          Set Up Email Authentication in One Click
        </ButtonLink>
      </section>

      <Section title="Overview">
        <dl className="grid gap-6 sm:grid-cols-3">
          {features.map(({ title, text }) => (
            <div key={title}>
              <dt className="font-medium">{title}</dt>
              <dd className="mt-1.5 text-[0.9375rem] leading-6 text-muted">{text}</dd>
            </div>
          ))}
        </dl>
      </Section>

      <Section title="With an AI assistant">
        <AssistantPrompts origin={origin} />
      </Section>

      <Section title="By hand, in four steps">
        <ol className="grid gap-10">
          <Step number={1} title="Register your domain">
            <p>
              <Link href={paths.register} className="text-ink underline underline-offset-4 hover:text-accent">
                Register the root domain
              </Link>{' '}
              with a linked email. Only that email can log in and manage changes for the domain.
            </p>
          </Step>
          <Step number={2} title="Add a “Login with Email” button">
            <p>
              Send your visitors to the auth page with a <Code>forward_url</Code> on your domain, and a <Code>language</Code> if you like:
              en, lt, lv, uk or ru.
            </p>
            <CodeBlock label="login.js" code={redirectSnippet(origin, DOMAIN, 'en')} />
            <p>A plain link works too; then leave out the check of the state.</p>
            <CodeBlock label="login.html" code={linkSnippet(origin, DOMAIN)} />
          </Step>
          <Step number={3} title="Handle the redirect">
            <p>
              After the sign-in your visitor is back at the <Code>forward_url</Code>, byte for byte as you gave it, with one more parameter:{' '}
              <Code>token</Code>.
            </p>
            <CodeBlock label="request" code={returnSnippet(DOMAIN)} />
          </Step>
          <Step number={4} title="Verify the token in the background">
            <p>Ask from your server, and always name your domain: a token of another site is then refused.</p>
            <CodeBlock label="welcome.js" code={verifySnippet(origin, DOMAIN)} />
            <CodeBlock label="response.json" code={answerSnippet(DOMAIN)} />
            <CodeBlock label="terminal" code={verifyRequestSnippet(origin, DOMAIN)} />
          </Step>
        </ol>
      </Section>

      <Section title="Security features">
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
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line py-10 sm:py-14">
      <h2 className="mb-6 text-xl font-semibold tracking-tight">{title}</h2>
      {children}
    </section>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
  return (
    <li className="grid min-w-0 gap-3">
      <h3 className="flex items-baseline gap-3 font-semibold tracking-tight">
        <span className="font-mono text-sm text-accent">{number}</span>
        {title}
      </h3>
      <div className="grid min-w-0 gap-3 text-[0.9375rem] leading-6 text-muted">{children}</div>
    </li>
  );
}

const Code = ({ children }: { children: string }) => (
  <code className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] text-ink [overflow-wrap:anywhere]">{children}</code>
);
