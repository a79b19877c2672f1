import { z } from 'zod';
import { FIGURE_DAYS, Overview, WebsiteStats } from '../../contract/stats.ts';
import { requireOwnSite } from '../service.ts';
import { defineTool } from '../tool.ts';
import { OwnDomain } from './fields.ts';

const SiteStats = WebsiteStats.omit({ id: true }).extend({ domain: z.string() });

export const getStats = defineTool({
  name: 'get_stats',
  title: 'Sign-in statistics',
  description: `Returns how many people signed in at the websites of the signed-in account, over the last ${FIGURE_DAYS} UTC days: emails requested, links opened, tokens verified, and the median time from email to click. Give domain for one website. Many emails and few opened ones suggest a problem with email delivery; many opened and few verified ones with the website's callback, which check_integration checks.`,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ domain: OwnDomain.optional() }),
  output: z.object({ days: z.number().int(), account: Overview, sites: z.array(SiteStats) }),
  async run({ domain }, { client }, signal) {
    const wanted = domain === undefined ? undefined : await requireOwnSite(client, domain, signal);
    const [sites, stats, account] = await Promise.all([
      wanted ? [wanted] : client.listWebsites({}, { signal }),
      client.websiteStats({}, { signal }),
      client.overview({}, { signal }),
    ]);
    const statsOf = new Map(stats.map(({ id, ...counts }) => [id, counts]));
    const { totalLogins, activeApplications, apiRequests, uptimePercent } = account;
    return {
      days: FIGURE_DAYS,
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
        `${domain}: ${sent} emails, ${opened} opened${medianSeconds === null ? '' : ` after ${Math.round(medianSeconds)} s (median)`}, ${again} with remembered accounts, ${completed} tokens verified.`,
    );
    return [`${account.totalLogins} sign-ins in the last ${days} days.`, ...(lines.length > 0 ? lines : ['There is no website yet.'])].join(
      '\n',
    );
  },
});
