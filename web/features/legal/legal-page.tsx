import { PageHeading } from '../../ui/page-heading.tsx';

export type Clause = { title: string; paragraphs: string[] };

/** A legal text. Its date is the present day in the visitor's time zone. */
export function LegalPage({ title, intro, clauses }: { title: string; intro: string; clauses: Clause[] }) {
  const now = new Date();
  const day = now.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  return (
    <article className="mx-auto max-w-2xl py-10 sm:py-16">
      <PageHeading title={title} className="text-3xl leading-9" />
      <p className="mt-2 text-sm text-muted">
        Last updated: <time dateTime={now.toLocaleDateString('sv')}>{day}</time>
      </p>
      <p className="mt-6 leading-7">{intro}</p>
      {clauses.map((clause, index) => (
        <section key={clause.title} className="mt-8">
          <h2 className="text-lg font-semibold tracking-tight">
            {index + 1}. {clause.title}
          </h2>
          {clause.paragraphs.map((paragraph) => (
            <p key={paragraph} className="mt-3 leading-7 text-muted">
              {paragraph}
            </p>
          ))}
        </section>
      ))}
    </article>
  );
}
