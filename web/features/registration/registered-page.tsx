import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { normalHost } from '../../../contract/rules.ts';
import { answerSnippet, redirectSnippet, verifySnippet } from '../../lib/snippets.ts';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

/** /webservices/email-auth/register/success: the three steps, filled with the domain of the address. */
export function RegisteredPage() {
  const [query] = useSearchParams();
  const domain = normalHost(query.get('domain') ?? '') ?? 'example.com';
  const { origin } = location;
  return (
    <div className="mx-auto max-w-2xl py-10 sm:py-16">
      <PageHeading title="Registration Successful!" className="text-3xl leading-9" />
      <p className="mt-2 text-muted [overflow-wrap:anywhere]">
        Visitors of <strong className="font-medium text-ink">{domain}</strong> can sign in by email now. We have sent a sign-in link to your
        address.
      </p>
      <ol className="mt-10 grid gap-10">
        <Step number={1} title="Redirect users to the auth page" text="The forward_url is where they come back to, with a token.">
          <CodeBlock label="login.js" code={redirectSnippet(origin, domain)} />
        </Step>
        <Step number={2} title="Verify the token with a GET" text="From your server, once: a token is good for one hour and a single use.">
          <CodeBlock label="welcome.js" code={verifySnippet(origin, domain)} />
        </Step>
        <Step number={3} title="Handle the JSON response" text="Sign the visitor in when it is valid.">
          <CodeBlock label="response.json" code={answerSnippet(domain)} />
        </Step>
      </ol>
      <section className="mt-12 border-l-2 border-accent pl-5">
        <h2 className="font-semibold tracking-tight">Security notes</h2>
        <ul className="mt-2 list-disc space-y-1.5 pl-4 text-[0.9375rem] leading-6 text-muted marker:text-edge">
          <li>Send your domain with every verification: a token that was made for another site is then refused.</li>
          <li>Compare the state with the one that your page kept, so that nobody can sign your visitors in as somebody else.</li>
          <li>Verify on your server, never in the browser, and take the token out of the address afterwards.</li>
        </ul>
      </section>
      <div className="mt-10 flex flex-wrap gap-2">
        <ButtonLink href={paths.signIn}>Access Developer Area</ButtonLink>
        <ButtonLink as={Link} look="secondary" href={paths.guide}>
          Back to Documentation
        </ButtonLink>
      </div>
    </div>
  );
}

function Step({ number, title, text, children }: { number: number; title: string; text: string; children: ReactNode }) {
  return (
    <li className="min-w-0">
      <h2 className="flex items-baseline gap-3 text-lg font-semibold tracking-tight">
        <span className="font-mono text-sm text-accent">{number}</span>
        {title}
      </h2>
      <p className="mt-1 mb-3 text-[0.9375rem] text-muted">{text}</p>
      {children}
    </li>
  );
}
