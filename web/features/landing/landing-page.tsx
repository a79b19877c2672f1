import type { ReactNode } from 'react';
import { docPath } from '../../../docs/pages.ts';
import { useSite } from '../../lib/site.ts';
import { DEMO, INBOX, paths } from '../../pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/copyable.tsx';
import { ArrowIcon, CheckIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Badge } from '../../ui/states.tsx';
import { EmailPicture, SignInPicture } from './sign-in-picture.tsx';

/** /: what the service is. The service redirects a signed-in developer to the portal instead. */
export function LandingPage() {
  return (
    <>
      <Hero />
      <AssistantTip />
      <TryIt />
      <Code />
      <Services />
      <Blurbs />
    </>
  );
}

const claims = ['No setup fees', 'AI assistant ready', 'Enterprise ready'];

function Hero() {
  const { origin } = useSite();
  const command = `npx emailauth init --host ${origin}`;
  return (
    <section className="max-w-3xl py-12 sm:pt-20 sm:pb-16">
      <PageHeading title="Passwordless email auth for vibe coding" className="text-4xl leading-[1.1] sm:text-6xl sm:leading-[1.05]" />
      <p className="mt-5 max-w-xl text-lg leading-7 text-muted">
        Your visitors sign in with a link in an email. No passwords to store, no accounts to manage: register your domain, add a link,
        verify a token.
      </p>
      <div className="mt-8 flex flex-wrap gap-2">
        <ButtonLink href={paths.signIn}>Get Started Free</ButtonLink>
        <ButtonLink variant="secondary" href={paths.signIn}>
          Connect With Email
        </ButtonLink>
        <ButtonLink variant="quiet" href={paths.guide}>
          Learn More<span className="sr-only"> about email sign-in</span>
        </ButtonLink>
      </div>
      <div className="mt-6 flex max-w-xl items-center rounded-control border border-line bg-sunk pl-4">
        <code className="min-w-0 grow py-2.5 font-mono text-[0.8125rem] leading-6 wrap-anywhere">{command}</code>
        <CopyButton text={command} what="the command" notice="Command copied" />
      </div>
      <ul className="mt-8 flex flex-wrap gap-x-6 gap-y-2 text-sm text-muted">
        {claims.map((claim) => (
          <li key={claim} className="flex items-center gap-2">
            <CheckIcon className="size-4 text-accent" />
            {claim}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Section({ id, title, text, children }: { id: string; title: string; text?: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id} className="border-t border-line py-12 sm:py-16">
      <h2 id={id} className="text-2xl font-semibold tracking-tight">
        {title}
      </h2>
      {text && <p className="mt-2 max-w-2xl leading-7 text-muted">{text}</p>}
      <div className="mt-8">{children}</div>
    </section>
  );
}

/** The sign-in as visitors see it; in local mode, with the way to do it. */
function TryIt() {
  const { isLocal, hasInbox } = useSite();
  return (
    <Section
      id="try"
      title={isLocal ? 'Try it' : 'What your visitors see'}
      text="A visitor enters an address and gets an email with a link and a code. Either of them signs the visitor in."
    >
      <div className="grid gap-6 md:grid-cols-2">
        <SignInPicture />
        <EmailPicture />
      </div>
      {isLocal && (
        <div className="mt-6 flex flex-wrap gap-2">
          <ButtonLink variant="secondary" href={DEMO}>
            Sign in at the demo shop
            <ArrowIcon />
          </ButtonLink>
          {hasInbox && (
            <ButtonLink variant="quiet" href={INBOX}>
              Open the inbox
            </ButtonLink>
          )}
        </div>
      )}
    </Section>
  );
}

/** The whole protocol on the server of a website, in ten lines. */
const serverCode = (origin: string) => `// GET /login
const state = crypto.randomUUID();
setCookie('login_state', state, { httpOnly: true, secure: true, sameSite: 'lax' });
const back = { forward_url: \`https://shop.example/auth/callback?state=\${state}\` };
redirect('${origin}/auth?' + new URLSearchParams(back));
// GET /auth/callback?state=…&token=…
if (!query.state || query.state !== cookies.login_state) return refuse();
const question = new URLSearchParams({ token: query.token, domain: 'shop.example' });
const { valid, email } = await (await fetch('${origin}/api/verify-token?' + question)).json();
valid ? openSession(email) : refuse();`;

/** What `emailauth try` prints for an Express app with the template, without the lines about starting it. */
const TRY = `$ emailauth try
PASS  Refusal of a made-up token: A made-up token with a valid state is refused (400).
PASS  Sign-in: A visitor signs in, which /account shows.
PASS  URL after the sign-in: The callback redirects to /account, without the token.
PASS  Repeated callback: The same callback is refused the second time (400).
PASS  Token of another website: A token of another website is refused (400).
PASS  Callback with a made-up state: A callback with a made-up state is refused (400).
PASS  Callback in another browser: A callback is refused in another browser.
…
Nothing is wrong.`;

function Code() {
  const { origin } = useSite();
  return (
    <Section
      id="code"
      title="Ten lines on your server"
      text="One link to us and one GET from your server: no library. The templates have the files for each framework."
    >
      <div className="grid gap-6">
        <CodeBlock label="server.js" code={serverCode(origin)} />
        <p className="max-w-2xl leading-7 text-muted">
          Then let the command line attack it. It runs your app, signs somebody in, and tries what must not work. These are some of its
          checks:
        </p>
        <CodeBlock label="terminal" code={TRY} />
      </div>
    </Section>
  );
}

const facts = [
  { name: 'Link and code', value: '10 minutes' },
  { name: 'Token', value: 'once, within 1 hour' },
  { name: 'Languages', value: 'en, lt, lv, uk, ru' },
];

type Service = { name: string; text: string; href?: string; status?: 'Ready Now' | 'Coming Soon' };

const services: Service[] = [
  {
    name: 'Passkeys',
    text: 'The second visit without an email, with nothing to integrate.',
    href: docPath('passkeys'),
    status: 'Ready Now',
  },
  {
    name: 'OpenID Connect',
    text: 'Your visitors’ addresses for any client: Auth.js, Spring, Django, Grafana.',
    href: docPath('openid-connect'),
    status: 'Ready Now',
  },
  {
    name: 'Apps without code',
    text: 'A sign-in in front of any app, by nginx, Caddy or Traefik.',
    href: docPath('forward-auth'),
    status: 'Ready Now',
  },
  {
    name: 'Statistics and logs',
    text: 'Who signs in, how often, and why a sign-in failed, without tracking anyone.',
    href: `${docPath('cli')}#stats`,
    status: 'Ready Now',
  },
  { name: 'Bug Reporting', text: 'A report from a visitor, with the details that show the problem.', status: 'Coming Soon' },
];

const tools: Service[] = [
  { name: 'Command line', text: 'Register, set up, try and watch a website from a terminal.', href: docPath('cli') },
  { name: 'MCP server', text: 'Tools and prompts by which an assistant does the same.', href: docPath('assistants') },
  { name: 'API', text: 'Every call with its schema, as OpenAPI 3.1.', href: docPath('api') },
  { name: 'Self-hosting', text: 'One command starts it. The source is under the MIT license.', href: docPath('operations') },
];

/** The services, with links to those that are available. */
function Services() {
  return (
    <Section id="services" title="Services">
      <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[1fr_1.7fr]">
        <a
          href={paths.guide}
          className="group flex flex-col self-start rounded-panel border border-line bg-panel p-5 transition-colors hover:border-edge sm:p-7"
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
          <span className="flex items-center gap-2 text-[0.9375rem] font-medium">
            Read the guide
            <ArrowIcon className="size-4 transition-transform group-hover:translate-x-0.5" />
          </span>
        </a>
        <ServiceList services={services} />
      </div>
      <h3 className="mt-12 font-semibold tracking-tight">Tools</h3>
      <div className="mt-3">
        <ServiceList services={tools} />
      </div>
    </Section>
  );
}

const ServiceList = ({ services }: { services: Service[] }) => (
  <ul className="divide-y divide-line border-y border-line">
    {services.map(({ name, text, href, status }) => (
      <li key={name} className="grid grid-cols-[1fr_auto] items-center gap-x-4 py-2 sm:grid-cols-[10rem_1fr_auto]">
        {href ? (
          <a href={href} className="flex min-h-11 items-center font-medium hover:text-accent">
            {name}
          </a>
        ) : (
          <span className="flex min-h-11 items-center font-medium">{name}</span>
        )}
        <span className="text-[0.9375rem] leading-6 text-muted max-sm:col-span-2 max-sm:row-start-2">{text}</span>
        {status && <Badge tone={status === 'Ready Now' ? 'live' : 'plain'}>{status}</Badge>}
      </li>
    ))}
  </ul>
);

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
  const { origin } = useSite();
  const prompt = `Add passwordless email sign-in to this site. Read ${origin}${paths.guide} and ${origin}/llms.txt first.`;
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
