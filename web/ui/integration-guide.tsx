import { LOCALHOST } from '../../contract/urls.ts';
import { verifyRequest } from '../../templates/render.ts';
import { isLocalMode } from '../lib/local-mode.ts';
import { redirectSnippet, responseSnippet } from '../lib/snippets.ts';
import { createStore, useStore } from '../lib/store.ts';
import { CodeBlock } from './copyable.tsx';
import { cx } from './cx.ts';
import { AssistantPrompt, Integration, Pills, useIntegration } from './integration.tsx';
import { Step } from './page-heading.tsx';

/**
 * The integration of a domain: as files of a framework, in three steps, and as a prompt. In local mode, first of an app on this computer.
 * @param compact little stands above the code
 */
export function IntegrationGuide({ domain, compact = false }: { domain: string; compact?: boolean }) {
  const { origin } = location;
  const place = useStore(selectedPlace);
  const shown = isLocalMode && place === 'here' ? LOCALHOST : domain;
  const site = useIntegration(shown).data?.site;
  return (
    <div className={cx('grid min-w-0', compact ? 'gap-8' : 'gap-14')}>
      {isLocalMode && domain !== LOCALHOST && <PlacePicker domain={domain} place={place} />}
      <section aria-labelledby="framework">
        {compact ? (
          <h2 id="framework" className="sr-only">
            In your framework
          </h2>
        ) : (
          <Title id="framework" title="In your framework" text="Login, callback, a protected page and logout, ready to paste." />
        )}
        <Integration domain={shown} compact={compact} />
      </section>
      <section aria-labelledby="steps">
        <Title id="steps" title="Three steps" text="What happens at every sign-in, in any framework." />
        <ol className="grid gap-8">
          <Step number={1} title="Redirect users to the auth page">
            <p>They return to the forward_url, with a token.</p>
            <CodeBlock label="login" code={redirectSnippet(origin, shown, site)} />
          </Step>
          <Step number={2} title="Verify the token with a GET">
            <p>From your server, once: a token is valid for one hour and a single use.</p>
            <CodeBlock label="terminal" code={verifyRequest(origin, shown)} />
          </Step>
          <Step number={3} title="Handle the JSON response">
            <p>Sign the visitor in when it is valid.</p>
            <CodeBlock label="response.json" code={responseSnippet(shown)} />
          </Step>
        </ol>
      </section>
      <section aria-labelledby="assistant">
        <Title id="assistant" title="With an AI assistant" text="One prompt with everything above, for the selected framework." />
        <AssistantPrompt domain={shown} />
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

/** Where the app runs that the integration is shown for. */
const selectedPlace = createStore<'here' | 'there'>('here');

function PlacePicker({ domain, place }: { domain: string; place: 'here' | 'there' }) {
  const places = [
    { value: 'here', label: 'On this computer' },
    { value: 'there', label: `On ${domain}` },
  ] as const;
  return (
    <div>
      <Pills label="Your app runs" options={places} selected={place} onSelect={(value) => selectedPlace.set(value)} />
      <p className="mt-3 text-[0.9375rem] leading-6 text-muted wrap-anywhere">
        {place === 'here'
          ? 'localhost is registered already.'
          : `Browsers return to https://${domain}, so that address has to lead to your app.`}
      </p>
    </div>
  );
}
