import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { Badge } from '../../ui/badge.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';

const facts = [
  { name: 'Link and code', value: '10 minutes' },
  { name: 'Token', value: 'once, within 1 hour' },
  { name: 'Languages', value: 'en, lt, lv, uk, ru' },
];

const coming: { name: string; text: string; status: 'Coming Soon' | 'Planned' | 'Vote Now' }[] = [
  { name: 'Analytics', text: 'Who signs in, from where and how often, without tracking anybody.', status: 'Coming Soon' },
  { name: 'Bug Reporting', text: 'A report from a visitor, with what is needed to see the fault.', status: 'Coming Soon' },
  { name: 'Passkeys', text: 'The second visit without a mail.', status: 'Planned' },
  { name: 'Webhooks', text: 'A signed call to your server at every sign-in.', status: 'Vote Now' },
];

/** The service that is ready, and what is to come; only what is ready is a link. */
export function Services() {
  return (
    <section aria-labelledby="services" className="border-t border-line py-12 sm:py-16">
      <h2 id="services" className="text-xl font-semibold tracking-tight">
        Services
      </h2>
      <div className="mt-6 grid gap-x-12 gap-y-6 lg:grid-cols-[1.1fr_1fr]">
        <Link
          href={paths.guide}
          className="group flex flex-col rounded-panel border border-line bg-panel p-5 transition-colors hover:border-edge sm:p-7"
        >
          <span className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <span className="text-lg font-semibold tracking-tight">Email Authentication</span>
            <Badge tone="live">Ready Now</Badge>
          </span>
          <span className="mt-2 block max-w-md leading-7 text-muted">
            Magic links and codes for your visitors, single-use tokens for your server.
          </span>
          <span className="mt-6 mb-6 block divide-y divide-line border-y border-line text-sm">
            {facts.map(({ name, value }) => (
              <span key={name} className="flex flex-wrap justify-between gap-x-6 py-2.5">
                <span className="text-muted">{name}</span>
                <span className="font-mono text-[0.8125rem] leading-5">{value}</span>
              </span>
            ))}
          </span>
          <span className="mt-auto flex items-center gap-2 text-[0.9375rem] font-medium">
            Read the guide
            <ArrowIcon className="size-4 transition-transform group-hover:translate-x-0.5" />
          </span>
        </Link>
        <ul className="divide-y divide-line border-line max-lg:border-t">
          {coming.map(({ name, text, status }) => (
            <li key={name} className="py-4 lg:first:pt-1">
              <p className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                <span className="font-medium">{name}</span>
                <Badge>{status}</Badge>
              </p>
              <p className="mt-1 max-w-md text-sm leading-6 text-muted">{text}</p>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
