import type { Context } from '../../context.ts';
import { CommandError, EXIT, type ExitCode } from '../../exit.ts';
import { openIcon } from '../../icon.ts';
import { askDomain, explainTaken, isAnswer, ownSite, siteText } from '../../sites.ts';

/** Adds a website. Its icon goes first, so that no site is made when that fails. */
export async function add(context: Context, given: { domain?: string; icon?: string }): Promise<ExitCode> {
  const { terminal } = context;
  const { client, host } = await context.signedIn();
  const icon = given.icon === undefined ? undefined : await openIcon(context, given.icon);
  const domain = given.domain ?? (await askDomain(terminal));
  const iconUrl = await icon?.upload(client, host);
  const site = await client.createWebsite({ domain, iconUrl }).catch(async (error) => {
    if (isAnswer(error, 'domain_taken') && ownSite(await client.listWebsites({}), domain)) throw haveAlready(domain);
    return explainTaken(error, domain, `\`emailauth sites verify ${domain}\``);
  });
  terminal.answer(site, siteText(context, site, host));
  if (!site.verified)
    terminal.note(`\nVisitors can sign in at once. To write the sign-in into your project:\n\`emailauth init --domain ${site.domain}\``);
  return EXIT.ok;
}

const haveAlready = (domain: string) =>
  new CommandError(
    EXIT.conflict,
    'domain_taken',
    `${domain} is one of your websites already.`,
    `See it with \`emailauth sites get ${domain}\`.`,
  );
