import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { websitePath } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copyable.tsx';
import { CheckIcon, CrossIcon } from '../../ui/icons.tsx';
import { Step } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { homeOf, type TabProps, testSignInUrl, type Website } from './website.ts';

type Result = Output<'verifyTestToken'>;

/** Where a test sign-in comes back to: shows the token, and what verify-token would return to the website. */
export function TestTab({ website }: TabProps) {
  const token = useReturnedToken();
  return (
    <div className="grid max-w-3xl gap-8">
      <h2 className="text-lg font-semibold tracking-tight">Test sign-in</h2>
      {token === null ? (
        <Empty
          title="No token came back yet"
          text={`A test sign-in works like one of a visitor of ${website.displayDomain}: by email, with the branding and the limits of the website. Its token comes back to this page.`}
        >
          <StartAgain website={website} label="Start a test sign-in" />
        </Empty>
      ) : (
        <ReturnedToken website={website} token={token} />
      )}
    </div>
  );
}

/** Returns the token of the address, which is removed from there, so that it does not remain in the history. */
function useReturnedToken(): string | null {
  const [parameters] = useSearchParams();
  const [path, navigate] = useLocation();
  const [token] = useState(() => parameters.get('token'));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page is opened
  useEffect(() => {
    if (token) navigate(path, { replace: true });
  }, []);
  return token;
}

function ReturnedToken({ website, token }: { website: Website; token: string }) {
  const { id, domain } = website;
  // A token is valid once, so its result is kept.
  const result = useQuery({
    queryKey: ['test-token', id, token],
    queryFn: () => api.verifyTestToken({ id, token }),
    gcTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      {result.isError && <Failed {...result} fallback="The token could not be verified." />}
      {result.isPending && <RowsLoading what="the result" rows={1} />}
      {result.data && <Summary website={website} result={result.data} />}
      <ol className="grid gap-8">
        <Step number={1} title="The visitor comes back with a token">
          <p>To the forward_url of your website; in this test, to this page.</p>
          <CodeBlock label="browser" code={`GET ${homeOf(domain)}?token=${token}`} />
        </Step>
        <Step number={2} title="Your server verifies it">
          <p>Once, and within an hour. The portal did the same with the test's token.</p>
          <CodeBlock label="terminal" code={`curl '${location.origin}/api/verify-token?token=${token}&domain=${domain}'`} />
        </Step>
        {result.data && (
          <Step number={3} title="The service answers">
            <p>Open your own session for the address when valid is true.</p>
            <CodeBlock label="response.json" code={JSON.stringify(result.data, null, 2)} />
          </Step>
        )}
      </ol>
      <p className="text-sm leading-6 text-muted">
        For your server this token is one of another website: it answers <code className="font-mono text-[0.8125rem]">other_domain</code>,
        so that a test never signs anyone in there.
      </p>
      <div className="flex flex-wrap gap-2">
        <StartAgain website={website} label="Test again" />
        <ButtonLink as={Link} href={websitePath(domain, 'log')} variant="secondary">
          See it in the log
        </ButtonLink>
      </div>
    </>
  );
}

function Summary({ website, result }: { website: Website; result: Result }) {
  return (
    <p
      role="status"
      className="flex items-start gap-2.5 rounded-panel border border-line bg-panel px-4 py-3.5 text-[0.9375rem] leading-6 wrap-anywhere"
    >
      {result.valid ? (
        <CheckIcon className="mt-1 size-4 shrink-0 text-accent" />
      ) : (
        <CrossIcon className="mt-1 size-4 shrink-0 text-danger" />
      )}
      <span>{result.valid ? `It works: ${result.email} signed in to ${website.displayDomain}.` : FAILURES[result.reason]}</span>
    </p>
  );
}

const FAILURES: Record<Extract<Result, { valid: false }>['reason'], string> = {
  used: 'This token was verified before. Each token is valid once: start another test.',
  expired: 'This token has expired: it is valid for an hour. Start another test.',
  unknown: 'This service did not issue this token, or the website was registered again since. Start another test.',
  other_domain: 'This token is for another website. Start the test of this one.',
};

const StartAgain = ({ website, label }: { website: Website; label: string }) => (
  <ButtonLink href={testSignInUrl(location.origin, website.domain, 'en')}>{label}</ButtonLink>
);
