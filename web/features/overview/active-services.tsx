import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { ArrowIcon } from '../../ui/icons.tsx';
import { Rows } from '../../ui/rows.tsx';
import { StatusDot } from '../../ui/status-dot.tsx';

const services = [
  { name: 'Authentication', href: paths.applications, tone: 'live', status: 'Active' },
  { name: 'Analytics', href: paths.analytics, tone: 'off', status: 'Coming Soon' },
  { name: 'Bug Reports', href: paths.bugs, tone: 'off', status: 'Coming Soon' },
] as const;

export function ActiveServices() {
  return (
    <section aria-labelledby="services">
      <h2 id="services" className="mb-4 text-lg font-semibold tracking-tight">
        Active Services
      </h2>
      <Rows>
        {services.map(({ name, href, tone, status }) => (
          <li key={name}>
            <Link href={href} className="group flex min-h-14 items-center gap-4 px-4 py-3 -outline-offset-2 sm:px-5">
              <span className="grow font-medium">{name}</span>
              <span className="text-muted">
                <StatusDot tone={tone}>{status}</StatusDot>
              </span>
              <ArrowIcon className="size-4 text-muted transition-transform group-hover:translate-x-0.5" />
            </Link>
          </li>
        ))}
      </Rows>
    </section>
  );
}
