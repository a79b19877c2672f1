import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

const claims = ['No setup fees', 'AI assistant ready', 'Enterprise ready'];

export function Hero() {
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
