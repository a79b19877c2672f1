import { errorText } from '../../lib/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CopyButton, OpenIdValues } from '../../ui/copyable.tsx';
import { cx } from '../../ui/cx.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { OpenIcon } from '../../ui/icons.tsx';
import { Alert } from '../../ui/states.tsx';
import { type Application, type ApplicationTest, useTestApplication } from './queries.ts';

/** The values that an OpenID Connect client needs, and a test of each redirect URI. */
export function SetupDialog({ application, onClose }: { application: Application; onClose: () => void }) {
  const { name, clientId, authentication, redirectUris } = application;
  return (
    <Dialog title={`Set up ${name}`} onClose={onClose}>
      <div className="grid gap-6">
        <p className="text-[0.9375rem] text-muted">
          Paste these into any OpenID Connect client. It finds the endpoints by the issuer and must use PKCE (S256).
          {authentication === 'secret' && ' The client secret was shown when it was created; rotate it to get a new one.'}
        </p>
        <OpenIdValues clientId={clientId} />
        <section aria-labelledby="redirect-tests">
          <h3 id="redirect-tests" className="mb-2 text-sm font-medium">
            Redirect URIs
          </h3>
          <ul className="divide-y divide-line rounded-control border border-line">
            {redirectUris.map((uri) => (
              <RedirectTest key={uri} application={application} uri={uri} />
            ))}
          </ul>
        </section>
      </div>
    </Dialog>
  );
}

/** One redirect URI with the results of its checks. */
function RedirectTest({ application, uri }: { application: Application; uri: string }) {
  const test = useTestApplication(application.id);
  return (
    <li className="py-1 pl-3">
      <div className="flex items-center gap-1">
        <code className="min-w-0 grow font-mono text-[0.8125rem] leading-5 wrap-anywhere">{uri}</code>
        <CopyButton text={uri} what={uri} notice="Redirect URI copied" />
        <Button variant="quiet" small busy={test.isPending} aria-label={`Test ${uri}`} onClick={() => test.mutate(uri)}>
          Test
        </Button>
      </div>
      <div aria-live="polite" className="pr-3">
        {test.error && !test.isPending && <Alert>{errorText(test.error, 'The test could not be run.')}</Alert>}
        {test.data && !test.isPending && <TestResult {...test.data} />}
      </div>
    </li>
  );
}

function statusOf(ok: boolean | null): { text: string; color: string } {
  if (ok === null) return { text: 'Not checked', color: 'text-muted' };
  return ok ? { text: 'OK', color: 'text-accent' } : { text: 'Failed', color: 'text-danger' };
}

function TestResult({ url, checks }: ApplicationTest) {
  return (
    <div className="grid gap-3 pb-3">
      <ul className="grid gap-2 text-[0.8125rem] leading-5">
        {checks.map(({ id, name, ok, detail, fix }) => (
          <li key={id} className="wrap-anywhere">
            <span className={cx('font-medium', statusOf(ok).color)}>
              {name}: {statusOf(ok).text}
            </span>
            <span className="block text-muted">
              {detail} {fix}
            </span>
          </li>
        ))}
      </ul>
      {url && (
        <ButtonLink variant="secondary" small href={url} target="_blank" rel="noopener" className="justify-self-start">
          Sign in as a test
          <OpenIcon />
          <span className="sr-only">(in a new tab)</span>
        </ButtonLink>
      )}
    </div>
  );
}
