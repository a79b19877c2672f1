import { Link, useSearchParams } from 'wouter';
import { normalHost } from '../../../contract/rules.ts';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { IntegrationGuide } from './integration-guide.tsx';

const EXAMPLE = 'example.com';

const notes = [
  'Send your domain with every verification: a token that was issued for another site is then refused.',
  'Compare the state with the one in the cookie, so that no one can sign your visitors in as someone else.',
  'Verify on your server, never in the browser, and remove the token from the address afterwards.',
];

/** /webservices/email-auth/register/success: the next steps for the registered domain. */
export function RegisteredPage() {
  const [query] = useSearchParams();
  const domain = normalHost(query.get('domain') ?? '');
  return (
    <div className="mx-auto max-w-3xl py-10 sm:py-16">
      {domain ? (
        <>
          <PageHeading title="Registration Successful!" className="text-3xl leading-9" />
          <p className="mt-3 max-w-xl leading-7 text-muted wrap-anywhere">
            Visitors of <strong className="font-medium text-ink">{domain}</strong> can sign in by email now. We have sent a sign-in link to
            your address: open it within 7 days to keep the domain.
          </p>
        </>
      ) : (
        <>
          <PageHeading title="Set up your site" className="text-3xl leading-9" />
          <p className="mt-3 max-w-xl leading-7 text-muted">
            This address names no domain, so the steps show {EXAMPLE}.{' '}
            <Link href={paths.register} className="text-ink underline underline-offset-4 hover:text-accent">
              Register yours
            </Link>{' '}
            to see them filled in.
          </p>
        </>
      )}
      <div className="mt-12">
        <IntegrationGuide domain={domain ?? EXAMPLE} />
      </div>
      <section className="mt-14 border-l-2 border-accent pl-5">
        <h2 className="font-semibold tracking-tight">Security notes</h2>
        <ul className="mt-2 list-disc space-y-1.5 pl-4 text-[0.9375rem] leading-6 text-muted marker:text-edge">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </section>
      <div className="mt-10 flex flex-wrap gap-2">
        <ButtonLink href={paths.signIn}>Access Developer Area</ButtonLink>
        <ButtonLink as={Link} variant="secondary" href={paths.guide}>
          Back to Documentation
        </ButtonLink>
      </div>
    </div>
  );
}
