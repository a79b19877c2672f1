import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { Badge } from '../../ui/badge.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';

type Service = { name: string; text: string; status: 'Ready Now' | 'Coming Soon' | 'Planned' | 'Vote Now'; href?: string };

const services: Service[] = [
  {
    name: 'Email Authentication',
    text: 'Magic links and codes for your visitors, single-use tokens for your server.',
    status: 'Ready Now',
    href: paths.guide,
  },
  { name: 'Analytics', text: 'Who signs in, from where and how often, without tracking anybody.', status: 'Coming Soon' },
  { name: 'Bug Reporting', text: 'A report from a visitor, with what is needed to see the fault.', status: 'Coming Soon' },
  { name: 'Passkeys', text: 'The second visit without a mail.', status: 'Planned' },
  { name: 'Webhooks', text: 'A signed call to your server at every sign-in.', status: 'Vote Now' },
];

/** The tip for assistants and the list of services; only what is ready is a link. */
export function Services() {
  return (
    <section className="grid gap-10 border-t border-line py-12 sm:py-16 lg:grid-cols-[1fr_2fr]">
      <div>
        <h2 className="text-xl font-semibold tracking-tight">Services</h2>
        <p className="mt-4 border-l-2 border-accent pl-4 text-[0.9375rem] leading-6 text-muted">
          <strong className="font-medium text-ink">Tip for AI assistants:</strong> give yours the address of{' '}
          <Link href={paths.guide} className="text-ink underline underline-offset-4 hover:text-accent">
            the guide
          </Link>{' '}
          and ask it to add email sign-in to your site. It needs nothing else.
        </p>
      </div>
      <ul className="divide-y divide-line rounded-panel border border-line bg-panel">
        {services.map((service) => (
          <li key={service.name}>
            {service.href ? (
              <Link href={service.href} className="group flex items-center gap-4 rounded-panel px-5 py-4 hover:bg-sunk">
                <Row {...service} />
                <ArrowIcon className="size-4 text-muted transition-transform group-hover:translate-x-0.5" />
              </Link>
            ) : (
              <div className="flex items-center gap-4 px-5 py-4">
                <Row {...service} />
                <span className="w-4" />
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ name, text, status }: Service) {
  return (
    <span className="min-w-0 grow">
      <span className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="font-medium">{name}</span>
        <Badge tone={status === 'Ready Now' ? 'live' : 'plain'}>{status}</Badge>
      </span>
      <span className="mt-0.5 block pr-4 text-sm text-muted">{text}</span>
    </span>
  );
}
