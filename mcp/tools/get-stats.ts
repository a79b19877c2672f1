import { z } from 'zod';
import { Overview } from '../../contract/account.ts';
import { STATS_DAYS } from '../../contract/limits.ts';
import { WebsiteStats } from '../../contract/websites.ts';
import { ownSite } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { OwnDomain } from './fields.ts';

const Figures = WebsiteStats.omit({ id: true }).extend({ domain: z.string() });

export const getStats = defineTool({
  name: 'get_stats',
  title: 'Sign-in figures',
  description: `Tells how many people signed in at the sites of whoever is signed in, over the last ${STATS_DAYS} UTC days: mails asked for, links opened, tokens verified, and the usual time from mail to click. Give domain for one site. Many mails and few opened ones point at mail delivery; many opened and few verified ones at the site's callback, which check_integration looks at.`,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ domain: OwnDomain.optional() }),
  output: z.object({ days: z.number().int(), account: Overview, sites: z.array(Figures) }),
  async run({ domain }, { client }, signal) {
    const wanted = domain === undefined ? undefined : await ownSite(client, domain, signal);
    const [sites, figures, account] = await Promise.all([
      wanted ? [wanted] : client.listWebsites({}, { signal }),
      client.websiteStats({}, { signal }),
      client.overview({}, { signal }),
    ]);
    const statsOf = new Map(figures.map(({ id, ...counts }) => [id, counts]));
    const { totalLogins, activeApplications, apiRequests, uptimePercent } = account;
    return {
      days: STATS_DAYS,
      account: { totalLogins, activeApplications, apiRequests, uptimePercent },
      sites: sites.flatMap(({ id, domain: name }) => {
        const counts = statsOf.get(id);
        return counts ? [{ domain: name, ...counts }] : [];
      }),
    };
  },
  text({ days, account, sites }) {
    const lines = sites.map(
      ({ domain, sent, opened, again, completed, medianSeconds }) =>
        `${domain}: ${sent} mails, ${opened} opened${medianSeconds === null ? '' : ` after ${Math.round(medianSeconds)} s in the median`}, ${again} by remembered accounts, ${completed} tokens verified.`,
    );
    return [
      `${account.totalLogins} sign-ins in the last ${days} days.`,
      ...(lines.length > 0 ? lines : ['There is no site to count for.']),
    ].join('\n');
  },
});
