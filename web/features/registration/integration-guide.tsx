import type { ReactNode } from 'react';
import { verifyRequest } from '../../../templates/render.ts';
import { answerSnippet, redirectSnippet } from '../../lib/snippets.ts';
import { CodeBlock } from '../../ui/copyable.tsx';
import { AssistantPrompt, Integration } from '../../ui/integration.tsx';

/** The integration of a domain: in three steps, as files of a framework, and as a prompt. */
export function IntegrationGuide({ domain }: { domain: string }) {
  const { origin } = location;
  return (
    <div className="grid min-w-0 gap-14">
      <section aria-labelledby="steps">
        <Title id="steps" title="Three steps" text="What happens at every sign-in, in any framework." />
        <ol className="grid gap-8">
          <Step number={1} title="Redirect users to the auth page" text="They return to the forward_url, with a token.">
            <CodeBlock label="login" code={redirectSnippet(origin, domain)} />
          </Step>
          <Step
            number={2}
            title="Verify the token with a GET"
            text="From your server, once: a token is valid for one hour and a single use."
          >
            <CodeBlock label="terminal" code={verifyRequest(origin, domain)} />
          </Step>
          <Step number={3} title="Handle the JSON response" text="Sign the visitor in when it is valid.">
            <CodeBlock label="response.json" code={answerSnippet(domain)} />
          </Step>
        </ol>
      </section>
      <section aria-labelledby="framework">
        <Title id="framework" title="In your framework" text="Login, callback, a protected page and logout, ready to paste." />
        <Integration domain={domain} />
      </section>
      <section aria-labelledby="assistant">
        <Title id="assistant" title="With an AI assistant" text="One prompt with everything above, for the selected framework." />
        <AssistantPrompt domain={domain} />
      </section>
    </div>
  );
}

const Title = ({ id, title, text }: { id: string; title: string; text: string }) => (
  <>
    <h2 id={id} className="text-xl font-semibold tracking-tight">
      {title}
    </h2>
    <p className="mt-1 mb-6 text-[0.9375rem] leading-6 text-muted">{text}</p>
  </>
);

function Step({ number, title, text, children }: { number: number; title: string; text: string; children: ReactNode }) {
  return (
    <li className="min-w-0">
      <h3 className="flex items-baseline gap-3 font-semibold tracking-tight">
        <span className="font-mono text-sm text-accent">{number}</span>
        {title}
      </h3>
      <p className="mt-1 mb-3 text-[0.9375rem] leading-6 text-muted">{text}</p>
      {children}
    </li>
  );
}
