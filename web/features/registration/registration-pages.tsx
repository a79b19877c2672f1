import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import { domainInput, domainMessage, EMAIL_MESSAGES, emailFaultOf, normalHost, readEmail } from '../../../contract/rules.ts';
import { verifyRequest } from '../../../templates/render.ts';
import { api, errorText } from '../../lib/api.ts';
import { answerSnippet, redirectSnippet } from '../../lib/snippets.ts';
import { paths, registeredPath } from '../../paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copyable.tsx';
import { DomainField, EmailField } from '../../ui/field.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { AssistantPrompt, Integration } from '../../ui/integration.tsx';
import { PageHeading, Step } from '../../ui/page-heading.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';

const EXAMPLE = 'example.com';

type Fields = { domain: string; email: string };
/** True: the alert above the form explains it. */
type Faults = { [Name in keyof Fields]?: string | true };

/** /webservices/email-auth/register: registers a domain with its linked address, beside a guide for the typed domain. */
export function RegisterPage() {
  const [, navigate] = useLocation();
  const register = useMutation({ mutationFn: (fields: Fields) => api.registerWebsite(fields) });
  const form = useRef<HTMLFormElement>(null);
  const [fields, setFields] = useState<Fields>({ domain: '', email: '' });
  const [faults, setFaults] = useState<Faults>({});
  const shortened = domainInput(fields.domain);
  const domain = normalHost(shortened) ?? EXAMPLE;

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
    const input = { domain: shortened, email: fields.email.trim() };
    setFields(input);
    if (show(faultsOf(input))) return;
    try {
      const { domain } = await register.mutateAsync(input);
      toast('Domain registered successfully', 'Redirecting to setup instructions...');
      navigate(registeredPath(domain));
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      if (error.code === 'bad_domain' || error.code === 'domain_taken') show({ domain: true });
      if (error.code === 'bad_email') show({ email: true });
    }
  };

  const change = (name: keyof Fields) => (event: { target: { value: string } }) => {
    setFields({ ...fields, [name]: event.target.value });
    setFaults({ ...faults, [name]: undefined });
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
            note={shortened !== fields.domain.trim() && `Shortened to the root domain: ${shortened}`}
          />
          <EmailField
            label="Email Address"
            placeholder="you@example.com"
            hint="Only this email will be able to log in and manage changes for the domain."
            value={fields.email}
            error={faults.email}
            onChange={change('email')}
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
  if (domain === '') faults.domain = 'Domain is required';
  else if (!normalHost(domain)) faults.domain = domainMessage(EXAMPLE);
  if (email === '') faults.email = 'Email is required';
  else if (!readEmail(email)) faults.email = EMAIL_MESSAGES[emailFaultOf(email)];
  return faults;
}

/** The integration of a domain: in three steps, as files of a framework, and as a prompt. */
function IntegrationGuide({ domain }: { domain: string }) {
  const { origin } = location;
  return (
    <div className="grid min-w-0 gap-14">
      <section aria-labelledby="steps">
        <Title id="steps" title="Three steps" text="What happens at every sign-in, in any framework." />
        <ol className="grid gap-8">
          <Step number={1} title="Redirect users to the auth page">
            <p>They return to the forward_url, with a token.</p>
            <CodeBlock label="login" code={redirectSnippet(origin, domain)} />
          </Step>
          <Step number={2} title="Verify the token with a GET">
            <p>From your server, once: a token is valid for one hour and a single use.</p>
            <CodeBlock label="terminal" code={verifyRequest(origin, domain)} />
          </Step>
          <Step number={3} title="Handle the JSON response">
            <p>Sign the visitor in when it is valid.</p>
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

const securityNotes = [
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
          {securityNotes.map((note) => (
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
