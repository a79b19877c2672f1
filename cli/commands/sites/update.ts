import type { Context } from '../../context.ts';
import { EXIT, type ExitCode, usageError } from '../../exit.ts';
import { openIcon } from '../../icon.ts';
import { explainTaken, siteOf, siteText } from '../../sites.ts';

/** @param given.icon a file; false: no icon any more; undefined: as it is */
export async function update(context: Context, text: string, given: { domain?: string; icon?: string | false }): Promise<ExitCode> {
  const { terminal } = context;
  if (given.domain === undefined && given.icon === undefined) throw usageError('Nothing to change.', 'Give --domain, --icon or --no-icon.');
  const { client, host } = await context.signedIn();
  const icon = typeof given.icon === 'string' ? await openIcon(context, given.icon) : undefined;
  const { id, domain, verified } = await siteOf(client, text);
  const iconUrl = given.icon === false ? null : await icon?.upload(client, host);
  const wanted = given.domain ?? domain;
  const site = await client
    .updateWebsite({ id, domain: wanted, iconUrl })
    .catch((error) => explainTaken(error, wanted, `\`emailauth sites verify ${wanted}\``));
  terminal.answer(site, siteText(context, site, host));
  if (site.domain !== domain) {
    const proof = verified ? ' The new domain has to be proved anew.' : '';
    terminal.note(`\nSign-ins at ${domain} have ended; ${site.domain} is its place.${proof}`);
  }
  return EXIT.ok;
}
