import { Link } from 'wouter';
import { docPages, docPath } from '../../../docs/pages.ts';

const files = [
  { href: '/llms.txt', title: 'llms.txt' },
  { href: '/openapi.json', title: 'OpenAPI' },
  { href: '/skill.md', title: 'Skill' },
];

/** The deeper pages, and the files for assistants. */
export function DocList() {
  return (
    <>
      <ul className="divide-y divide-line border-y border-line">
        {docPages
          .filter(({ slug }) => slug !== 'overview')
          .map(({ slug, title, description }) => (
            <li key={slug} className="grid gap-x-6 py-2 sm:grid-cols-[12rem_1fr]">
              <Link href={docPath(slug)} className="flex min-h-11 items-center font-medium hover:text-accent">
                {title}
              </Link>
              <span className="text-[0.9375rem] leading-6 text-muted sm:py-2.5">{description}</span>
            </li>
          ))}
      </ul>
      <p className="mt-4 flex flex-wrap gap-x-6 text-[0.9375rem]">
        {files.map(({ href, title }) => (
          <a key={href} href={href} className="flex min-h-11 items-center underline decoration-edge underline-offset-4 hover:text-accent">
            {title}
          </a>
        ))}
      </p>
    </>
  );
}
