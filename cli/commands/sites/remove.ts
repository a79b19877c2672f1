import { normalHost } from '../../../contract/rules.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit.ts';
import { askText } from '../../prompts.ts';
import { nameOf, siteOf } from '../../sites.ts';

/** Deletes a website, once its domain was typed again or with `--yes`. */
export async function remove({ terminal, signedIn }: Context, text: string): Promise<ExitCode> {
  const { client } = await signedIn();
  const site = await siteOf(client, text);
  if (!terminal.yes) {
    await askText(terminal, {
      message: `Sign-ins at ${nameOf(site)} end at once. Type the domain to delete it`,
      flag: '--yes',
      validate: (typed) =>
        normalHost(typed.trim()) === site.domain ? undefined : `Type ${site.displayDomain}, or press Ctrl-C to keep it`,
    });
    terminal.note('');
  }
  await client.deleteWebsite({ id: site.id });
  terminal.answer({ domain: site.domain, removed: true }, `${nameOf(site)} is removed.`);
  return EXIT.ok;
}
