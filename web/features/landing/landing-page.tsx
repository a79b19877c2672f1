import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { hasInbox, isLocalMode } from '../../lib/local-mode.ts';
import { useUser } from '../../lib/session.ts';
import { DEMO, INBOX, paths } from '../../pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copyable.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Badge, Loading } from '../../ui/states.tsx';

/** /: what the service is. It redirects a signed-in developer to the portal. */
export function LandingPage() {
  const { data: user, isPending } = useUser();
  const [, navigate] = useLocation();
  useEffect(() => {
    if (user) navigate(paths.developer, { replace: true });
  }, [user, navigate]);

  if (isPending || user) return <Loading />;
  return (
    <>
      <Hero />
      <AssistantTip />
      <Services />
      <Blurbs />
    </>
  );
}

const claims = ['No setup fees', 'AI assistant ready', 'Enterprise ready'];

function Hero() {
  return (
    <section className="grid items-center gap-x-12 gap-y-10 py-12 sm:py-20 lg:grid-cols-[1.1fr_1fr]">
      <div>
        <PageHeading title="Passwordless email auth for vibe coding" className="text-4xl leading-[1.1] sm:text-5xl" />
        <p className="mt-5 max-w-xl text-lg leading-7 text-muted">
          Your visitors sign in with a link in an email. No passwords to store, no accounts to manage: register your domain, add a link,
          verify a token.
        </p>
        <div className="mt-8 flex flex-wrap gap-2">
          <ButtonLink href={paths.signIn}>Get Started Free</ButtonLink>
          <ButtonLink variant="secondary" href={paths.signIn}>
            Connect With Email
          </ButtonLink>
          <ButtonLink as={Link} variant="quiet" href={paths.guide}>
            Learn More<span className="sr-only"> about email sign-in</span>
          </ButtonLink>
        </div>
        {isLocalMode && (
          <p className="mt-4 text-sm text-muted">
            This service runs in local mode:{' '}
            <a href={DEMO} className="text-accent underline underline-offset-2">
              try the demo
            </a>
            {hasInbox && (
              <>
                , and read its emails in the{' '}
                <a href={INBOX} className="text-accent underline underline-offset-2">
                  local inbox
                </a>
              </>
            )}
            .
          </p>
        )}
        <ul className="mt-8 flex flex-wrap gap-x-6 gap-y-2 text-sm text-muted">
          {claims.map((claim) => (
            <li key={claim} className="flex items-center gap-2">
              <span aria-hidden="true" className="size-1.5 rounded-full bg-accent" />
              {claim}
            </li>
          ))}
        </ul>
      </div>
      <Exchange />
    </section>
  );
}

const steps = [
  { who: 'Your site sends its visitor', code: ['/auth?forward_url=', 'https://shop.example/welcome'] },
  { who: 'We email a link and a 6-digit code', code: ['ada@example.com', ''] },
  { who: 'The visitor returns with a token', code: ['https://shop.example/welcome', '?token=Zk3v…'] },
  { who: 'Your server verifies it, once', code: ['{ "email": "ada@example.com", ', '"valid": true }'] },
];

/** A sign-in in four steps. */
function Exchange() {
  return (
    <ol className="rounded-panel border border-line bg-panel px-5 py-6 shadow-raised sm:px-6">
      {steps.map(({ who, code: [start, end] }, index) => (
        <li key={who} className="relative pb-6 pl-9 last:pb-0">
          {index < steps.length - 1 && <span aria-hidden="true" className="absolute top-7 bottom-1 left-[0.6875rem] w-px bg-line" />}
          <span
            aria-hidden="true"
            className="absolute top-0 left-0 grid size-6 place-items-center rounded-full border border-line bg-sunk font-mono text-xs text-muted"
          >
            {index + 1}
          </span>
          <p className="text-[0.9375rem] font-medium">{who}</p>
          <p className="mt-1 font-mono text-[0.8125rem] leading-5 text-muted wrap-anywhere">
            {start}
            <span className="text-accent">{end}</span>
          </p>
        </li>
      ))}
    </ol>
  );
}

const blurbs = [
  {
    title: 'Secure by Design',
    text: 'Only registered domains, single-use tokens, links that redirect to the exact address that was asked for, and an audit log.',
  },
  {
    title: 'Lightning Fast',
    text: 'Set up in under 2 minutes, active at once. One request sends the email, one request verifies the token.',
  },
  {
    title: 'AI Assistant Ready',
    text: 'One link and one GET: short enough to fit a prompt, precise enough for an assistant to get it right.',
  },
];

function Blurbs() {
  return (
    <section aria-label="What to expect" className="grid gap-8 border-t border-line py-12 sm:grid-cols-3 sm:py-16">
      {blurbs.map(({ title, text }) => (
        <div key={title}>
          <h2 className="font-semibold tracking-tight">{title}</h2>
          <p className="mt-2 text-[0.9375rem] leading-6 text-muted">{text}</p>
        </div>
      ))}
    </section>
  );
}

/** A prompt for AI assistants. */
function AssistantTip() {
  const prompt = `Add passwordless email sign-in to this site. Read ${location.origin}${paths.guide} and ${location.origin}/llms.txt first.`;
  return (
    <aside aria-labelledby="tip" className="mb-12 flex items-start gap-2 border-l-2 border-accent py-1 pl-5 sm:mb-16">
      <div className="min-w-0 grow">
        <h2 id="tip" className="text-[0.9375rem] font-medium">
          Tip for AI assistants
        </h2>
        <p className="mt-1 text-[0.9375rem] leading-6 text-muted">Paste this into the assistant that writes your site:</p>
        <p className="mt-2 font-mono text-[0.8125rem] leading-6 wrap-anywhere">{prompt}</p>
      </div>
      <CopyButton text={prompt} what="the prompt" notice="Prompt copied" />
    </aside>
  );
}

const facts = [
  { name: 'Link and code', value: '10 minutes' },
  { name: 'Token', value: 'once, within 1 hour' },
  { name: 'Languages', value: 'en, lt, lv, uk, ru' },
];

const coming: { name: string; text: string; status: 'Coming Soon' | 'Planned' | 'Vote Now' }[] = [
  { name: 'Analytics', text: 'Who signs in, from where and how often, without tracking anyone.', status: 'Coming Soon' },
  { name: 'Bug Reporting', text: 'A report from a visitor, with the details that show the problem.', status: 'Coming Soon' },
  { name: 'Passkeys', text: 'The second visit without an email.', status: 'Planned' },
  { name: 'Webhooks', text: 'A signed call to your server at every sign-in.', status: 'Vote Now' },
];

/** The available service, with a link, and the planned ones. */
function Services() {
  return (
    <section aria-labelledby="services" className="border-t border-line py-12 sm:py-16">
      <h2 id="services" className="text-xl font-semibold tracking-tight">
        Services
      </h2>
      <div className="mt-6 grid gap-x-12 gap-y-6 lg:grid-cols-[1.1fr_1fr]">
        <Link
          href={paths.guide}
          className="group flex flex-col rounded-panel border border-line bg-panel p-5 transition-colors hover:border-edge sm:p-7"
        >
          <span className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <span className="text-lg font-semibold tracking-tight">Email Authentication</span>
            <Badge tone="live">Ready Now</Badge>
          </span>
          <span className="mt-2 block max-w-md leading-7 text-muted">
            Magic links and codes for your visitors, single-use tokens for your server.
          </span>
          <span className="mt-6 mb-6 block divide-y divide-line border-y border-line text-sm">
            {facts.map(({ name, value }) => (
              <span key={name} className="flex flex-wrap justify-between gap-x-6 py-2.5">
                <span className="text-muted">{name}</span>
                <span className="font-mono text-[0.8125rem] leading-5">{value}</span>
              </span>
            ))}
          </span>
          <span className="mt-auto flex items-center gap-2 text-[0.9375rem] font-medium">
            Read the guide
            <ArrowIcon className="size-4 transition-transform group-hover:translate-x-0.5" />
          </span>
        </Link>
        <ul className="divide-y divide-line border-line max-lg:border-t">
          {coming.map(({ name, text, status }) => (
            <li key={name} className="py-4 lg:first:pt-1">
              <p className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                <span className="font-medium">{name}</span>
                <Badge>{status}</Badge>
              </p>
              <p className="mt-1 max-w-md text-sm leading-6 text-muted">{text}</p>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
