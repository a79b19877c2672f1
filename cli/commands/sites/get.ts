import { STATS_DAYS } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit.ts';
import { siteOf, siteText } from '../../sites.ts';
import { table } from '../../terminal.ts';

type Figures = Omit<Output<'websiteStats'>[number], 'id'>;

const NONE: Figures = { sent: 0, opened: 0, again: 0, completed: 0, medianSeconds: null };

/** One website with its figures. */
export async function get(context: Context, domain: string): Promise<ExitCode> {
  const { terminal } = context;
  const { client, host } = await context.signedIn();
  const site = await siteOf(client, domain);
  const { id, ...figures } = (await client.websiteStats({})).find((each) => each.id === site.id) ?? { id: site.id, ...NONE };
  const title = terminal.style('bold', `Last ${STATS_DAYS} days`);
  terminal.answer({ ...site, id, figures }, `${siteText(context, site, host)}\n\n${title}\n${statsText(figures)}`);
  return EXIT.ok;
}

function statsText({ sent, opened, again, completed, medianSeconds }: Figures): string {
  const rows: [string, number][] = [
    ['mails asked for', sent],
    ['links opened and codes entered', opened],
    ['remembered accounts, without a mail', again],
    ['tokens that the site verified', completed],
  ];
  const digits = Math.max(...rows.map(([, count]) => count.toLocaleString('en').length));
  const lines = table(rows.map(([name, count]) => [`  ${name}`, count.toLocaleString('en').padStart(digits)]));
  return medianSeconds === null ? lines : `${lines}\n  half of the mails are opened within ${medianSeconds} s`;
}
