import { z } from 'zod';

/** Days that figures cover. */
export const FIGURE_DAYS = 30;

/** The sign-ins of a site in the last 30 UTC days. */
export const WebsiteStats = z.object({
  id: z.uuid().meta({ description: "The website's id" }),
  sent: z.number().meta({ description: 'Mails asked for' }),
  opened: z.number().meta({ description: 'Links opened and codes entered' }),
  again: z.number().meta({ description: 'Sign-ins of remembered accounts, without a mail' }),
  completed: z.number().meta({ description: 'Tokens that the site verified' }),
  medianSeconds: z.number().nullable().meta({ description: 'From the request to the opening; null: nothing was opened' }),
});
export const WebsiteStatsList = z.array(WebsiteStats);

/** The cards of the dashboard's overview, measured over the last 30 UTC days. */
export const Overview = z.object({
  totalLogins: z.number().meta({ description: "Sign-ins at the account's sites and applications" }),
  activeApplications: z.number(),
  apiRequests: z.number().meta({ description: "Calls with the account's API keys" }),
  uptimePercent: z.number().nullable().meta({ description: 'Of the service itself; null: not enough data yet' }),
});

export const DailyLogins = z.array(z.object({ date: z.string().meta({ description: 'UTC, YYYY-MM-DD' }), count: z.number() }));
