import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import { domainInput, domainMessage, EMAIL_MESSAGE, normalEmail, normalHost } from '../../../contract/rules.ts';
import { api, errorText } from '../../lib/api.ts';
import { paths, registeredPath } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { DomainField, EmailField } from '../../ui/field.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { IntegrationGuide } from './integration-guide.tsx';

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
  const domain = normalHost(domainInput(fields.domain)) ?? EXAMPLE;
  const [typed, setTyped] = useState<string | null>(null);

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
    const input = { domain: shortenDomain(), email: fields.email.trim() };
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

  /** Reduces the text of the field to the domain that is registered, and says so. */
  const shortenDomain = (): string => {
    const text = fields.domain.trim();
    const shortened = domainInput(text);
    if (shortened !== text) {
      setFields({ ...fields, domain: shortened });
      setTyped(text);
    }
    return shortened;
  };

  const change = (name: keyof Fields) => (event: { target: { value: string } }) => {
    setFields({ ...fields, [name]: event.target.value });
    setFaults({ ...faults, [name]: undefined });
    if (name === 'domain') setTyped(null);
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
            onBlur={shortenDomain}
            note={typed && `Shortened to the root domain, from ${typed}`}
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
  else if (!normalEmail(email)) faults.email = EMAIL_MESSAGE;
  return faults;
}
