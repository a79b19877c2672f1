import type { History } from './history.ts';
import { durationOf, percentOf } from './stats-text.ts';

/** How visitors signed in: by link, code, remembered account and OpenID Connect. */
export function Methods({ history: { total, median } }: { history: History }) {
  const { opened, openedByCode, again, openIdSent, openIdOpened } = total;
  const rows = [
    { method: 'Link in the email', count: opened - openedByCode, seconds: median.link },
    { method: 'Code in the email', count: openedByCode, seconds: median.code },
    { method: 'Remembered account', count: again, seconds: null },
    ...(openIdSent + openIdOpened > 0 ? [{ method: 'OpenID Connect, by email', count: openIdOpened, seconds: null }] : []),
  ];
  const all = opened + again + openIdOpened;
  return (
    <section aria-labelledby="methods">
      <h2 id="methods" className="mb-4 text-lg font-semibold tracking-tight">
        How visitors sign in
      </h2>
      <div className="overflow-x-auto rounded-panel border border-line bg-panel">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left text-[0.8125rem] text-muted">
              <Head>Method</Head>
              <Head right>Sign-ins</Head>
              <Head right>Share</Head>
              <Head right>Median time</Head>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows.map(({ method, count, seconds }) => (
              <tr key={method}>
                <th scope="row" className="py-2.5 pr-2 pl-4 text-left font-medium sm:px-5">
                  {method}
                </th>
                <Cell>{count.toLocaleString('en')}</Cell>
                <Cell>{percentOf(count, all) ?? '–'}</Cell>
                <Cell>{seconds === null ? '–' : durationOf(seconds)}</Cell>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {openIdSent > 0 && (
        <p className="mt-3 max-w-2xl text-sm leading-6 text-muted">
          {openIdSent.toLocaleString('en')} emails were requested through OpenID Connect; they are not part of the funnel.
        </p>
      )}
    </section>
  );
}

const Head = ({ right = false, children }: { right?: boolean; children: string }) => (
  <th
    scope="col"
    className={`px-2 py-2 align-bottom font-medium first:pl-4 last:pr-4 sm:whitespace-nowrap sm:px-5 ${right ? 'text-right' : ''} ${children.includes(' ') ? '' : 'whitespace-nowrap'}`}
  >
    {children}
  </th>
);

const Cell = ({ children }: { children: string }) => (
  <td className="whitespace-nowrap px-2 py-2.5 text-right tabular-nums last:pr-4 sm:px-5">{children}</td>
);
