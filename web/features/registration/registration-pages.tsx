import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { ApiError } from '../../../contract/client.ts';
import { isUnfinished, suggestEmail } from '../../../contract/email-suggestions.ts';
import { EMAIL_MESSAGES, emailFaultOf, readEmail } from '../../../contract/emails.ts';
import { DOMAIN_REQUIRED, domainInput, domainMessage, LOCALHOST, normalHost } from '../../../contract/urls.ts';
import { mailboxSite } from '../../../contract/web-mail.ts';
import { api, errorText } from '../../lib/api.ts';
import { hasInbox } from '../../lib/local-mode.ts';
import { INBOX, newestEmailPath, paths, registeredPath, websitePath } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DomainField, EmailField } from '../../ui/field.tsx';
import { BackIcon, OpenIcon } from '../../ui/icons.tsx';
import { IntegrationGuide } from '../../ui/integration-guide.tsx';
import { isThisComputer, LocalhostNote } from '../../ui/local-mode.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';

const EXAMPLE = 'example.com';

type Fields = { domain: string; email: string };
/** True: the alert above the form explains it. */
type Faults = { [Name in keyof Fields]?: string | true };

/**
 * /webservices/email-auth/register: registers a domain with its linked address, beside a guide for the typed domain. `?domain=` fills
 * the domain in.
 */
export function RegisterPage() {
  const [, navigate] = useLocation();
  const register = useMutation({ mutationFn: (fields: Fields) => api.registerWebsite(fields) });
  const form = useRef<HTMLFormElement>(null);
  const [query] = useSearchParams();
  const [fields, setFields] = useState<Fields>({ domain: query.get('domain') ?? '', email: '' });
  const [faults, setFaults] = useState<Faults>({});
  const shortened = domainInput(fields.domain);
  const isLocal = isThisComputer(fields.domain);
  const suggested = suggestEmail(fields.email);
  const suggestion = suggested !== null && (faults.email || !isUnfinished(fields.email, suggested)) ? suggested : null;
  const domain = isLocal ? LOCALHOST : (normalHost(shortened) ?? EXAMPLE);

  const show = (found: Faults) => {
    setFaults(found);
    const first = found.domain ? 'domain' : found.email ? 'email' : null;
    if (first) form.current?.querySelector<HTMLInputElement>(`[name=${first}]`)?.focus();
    return first !== null;
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (register.isPending) return;
    register.reset();
    if (isLocal) return navigate(registeredPath(LOCALHOST));
    const input = { domain: shortened, email: fields.email.trim() };
    setFields(input);
    if (show(faultsOf(input))) return;
    try {
      const { domain } = await register.mutateAsync(input);
      toast('Domain registered successfully', 'Redirecting to setup instructions...');
      navigate(registeredPath(domain), { state: { email: input.email } });
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      if (error.code === 'bad_domain' || error.code === 'domain_taken') show({ domain: true });
      if (error.code === 'bad_email') show({ email: true });
    }
  };

  const change = (name: keyof Fields) => (event: { target: { value: string } }) => {
    setFields({ ...fields, [name]: event.target.value });
    // The alert, and the fields that it is about, are of what was sent before.
    setFaults(register.error ? {} : { ...faults, [name]: undefined });
    if (register.error) register.reset();
  };

  return (
    <div className="grid gap-x-14 gap-y-14 py-10 sm:py-16 lg:grid-cols-[22rem_minmax(0,1fr)]">
      <div className="w-full max-w-md lg:sticky lg:top-8 lg:self-start">
        <Link
          href={paths.guide}
          className="-ml-1 inline-flex min-h-11 items-center gap-1.5 rounded-control px-1 text-sm text-muted hover:text-ink"
        >
          <BackIcon />
          Email authentication
        </Link>
        <PageHeading title="Register your domain" className="mt-4 text-3xl leading-9" />
        <p className="mt-2 text-muted">Active at once; your setup instructions follow.</p>
        <form ref={form} noValidate onSubmit={submit} className="mt-8 grid gap-5">
          {register.error && <Alert>{errorText(register.error, 'An error occurred during registration')}</Alert>}
          <DomainField
            label="Domain"
            placeholder={EXAMPLE}
            hint="Root domain only, without protocol, subdomains or paths."
            value={fields.domain}
            error={faults.domain}
            onChange={change('domain')}
            note={isLocal ? <LocalhostNote /> : shortened !== fields.domain.trim() && `Shortened to the root domain: ${shortened}`}
          />
          <EmailField
            label="Email Address"
            placeholder="you@example.com"
            hint="Only this email will be able to log in and manage changes for the domain."
            value={fields.email}
            error={faults.email}
            onChange={change('email')}
            note={
              suggestion && (
                <button
                  type="button"
                  className="inline-flex min-h-11 items-center text-left font-medium text-accent underline wrap-anywhere"
                  onClick={() => {
                    change('email')({ target: { value: suggestion } });
                    form.current?.querySelector<HTMLInputElement>('[name=email]')?.focus();
                  }}
                >
                  Did you mean {suggestion.slice(suggestion.lastIndexOf('@') + 1)}?
                </button>
              )
            }
          />
          <Button type="submit" busy={register.isPending}>
            {register.isPending ? 'Registering...' : 'Register Domain'}
          </Button>
        </form>
      </div>
      <div className="min-w-0 border-t border-line pt-10 lg:border-t-0 lg:border-l lg:pt-0 lg:pl-14">
        <p className="mb-8 text-sm text-muted">
          What comes next for <span className="font-mono text-[0.8125rem] text-ink wrap-anywhere">{domain}</span>
        </p>
        <IntegrationGuide domain={domain} />
      </div>
    </div>
  );
}

function faultsOf({ domain, email }: Fields): Faults {
  const faults: Faults = {};
  if (domain === '') faults.domain = DOMAIN_REQUIRED;
  else if (!normalHost(domain)) faults.domain = domainMessage(EXAMPLE);
  if (email === '') faults.email = 'Email is required';
  else if (!readEmail(email)) faults.email = EMAIL_MESSAGES[emailFaultOf(email)];
  return faults;
}

const securityNotes = [
  'Send your domain with every verification: a token that was issued for another site is then refused.',
  'Compare the state with the one in the cookie, so that no one can sign your visitors in as someone else.',
  'Verify on your server, never in the browser, and remove the token from the address afterwards.',
];

/** /webservices/email-auth/register/success: the next steps for the registered domain. */
export function RegisteredPage() {
  const [query] = useSearchParams();
  const named = query.get('domain') ?? '';
  // In the entry of the history, which no server sees.
  const email = useHistoryState<{ email?: string } | null>()?.email;
  const isLocal = isThisComputer(named);
  const domain = isLocal ? LOCALHOST : normalHost(named);
  const mailbox = hasInbox
    ? { name: 'the local inbox', url: email ? newestEmailPath(email) : INBOX }
    : email
      ? mailboxSite(email)
      : undefined;
  return (
    <div className="mx-auto max-w-3xl py-10 sm:py-16">
      {isLocal ? (
        <>
          <PageHeading title="Set up your app" className="text-3xl leading-9" />
          <p className="mt-3 max-w-xl leading-7 text-muted">
            localhost is registered already: this is the code for an app on this computer.
          </p>
        </>
      ) : domain ? (
        <>
          <PageHeading title="Registration Successful!" className="text-3xl leading-9" />
          <p className="mt-3 max-w-xl leading-7 text-muted wrap-anywhere">
            Visitors of <strong className="font-medium text-ink">{domain}</strong> can sign in by email now. We have sent a sign-in link to{' '}
            {email ? <strong className="font-medium text-ink">{email}</strong> : 'your address'}: open it within 7 days to keep the domain.
          </p>
          {mailbox && (
            <ButtonLink variant="secondary" href={mailbox.url} target="_blank" rel="noopener noreferrer" className="mt-5">
              Open {mailbox.name}
              <OpenIcon />
            </ButtonLink>
          )}
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
          {securityNotes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </section>
      <div className="mt-10 flex flex-wrap gap-2">
        <ButtonLink as={Link} variant="secondary" href={paths.guide}>
          Back to Documentation
        </ButtonLink>
        <ButtonLink href={paths.signIn}>Access Developer Area</ButtonLink>
        {domain && (
          <ButtonLink as={Link} variant="secondary" href={websitePath(domain)}>
            Open the website's page
          </ButtonLink>
        )}
      </div>
    </div>
  );
}
