import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { verifyRequest } from '../../../templates/next-steps.ts';
import { answerSnippet, linkSnippet, redirectSnippet, returnSnippet, verifySnippet } from '../../lib/snippets.ts';
import { paths } from '../../paths.ts';
import { CodeBlock } from '../../ui/code.tsx';

/** The protocol in four steps, for developers who write the code themselves. */
export function ManualSteps({ domain }: { domain: string }) {
  const { origin } = location;
  return (
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
        <CodeBlock label="response.json" code={answerSnippet(domain)} />
      </Step>
    </ol>
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
  <code className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] text-ink wrap-anywhere">{children}</code>
);
