import type { Client } from '../../contract/client.ts';
import type { Output } from '../../contract/routes.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

type Branding = Output<'settings'>['branding'];

const BRANDING_SHAPE = '{fromName,logoUrl,websites,previewUrl}';

export const brandingGet: CommandSpec = {
  usage: 'branding get',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the sender and the logo of the sign-in emails of your websites',
  about: 'It applies to websites whose domain is proved. The page of the preview needs a browser in which you are signed in.',
  examples: ['branding get', 'branding get --json | jq -r .previewUrl'],
  json: BRANDING_SHAPE,
  async run({ terminal, signedIn }) {
    const { client, host } = await signedIn();
    const { branding } = await client.settings({});
    return printBranding(terminal, client, host, branding);
  },
};

export const brandingSet: CommandSpec = {
  usage: 'branding set',
  needs: 'sign-in',
  group: 'Account',
  summary: 'change the sender or the logo of the sign-in emails of your websites',
  about: 'What you do not give stays. It applies to the next emails of websites whose domain is proved.',
  flags: {
    '--from-name <name>': 'name of the sender; its address stays that of the service',
    '--no-from-name': 'the name of the service',
    '--logo-url <url>': 'PNG or JPG on https, shown 40 pixels high',
    '--no-logo-url': 'no logo',
  },
  examples: ['branding set --from-name "Bread & Butter" --logo-url https://shop.example/logo.png', 'branding set --no-logo-url'],
  json: BRANDING_SHAPE,
  async run({ terminal, signedIn }, _, { fromName, logoUrl }) {
    if (fromName === undefined && logoUrl === undefined)
      throw usageError('Nothing to change.', 'Give --from-name, --no-from-name, --logo-url or --no-logo-url.');
    const { client, host } = await signedIn();
    const { branding } = await client.settings({});
    const wanted = (given: string | false | undefined, current: string) => (given === undefined ? current : given || '');
    const saved = await client.saveBranding({
      fromName: wanted(fromName, branding.fromName),
      logoUrl: wanted(logoUrl, branding.logoUrl),
    });
    return printBranding(terminal, client, host, saved.branding);
  },
};

async function printBranding(terminal: Terminal, client: Client, host: string, { fromName, logoUrl }: Branding): Promise<number> {
  const websites = (await client.listWebsites({})).filter(({ verified }) => verified).map(({ domain }) => domain);
  const previewUrl = `${host}/dashboard/settings/preview?${new URLSearchParams({ fromName, logoUrl, language: 'en' })}`;
  const rows: [string, string][] = [
    ['from', fromName || 'the name of the service'],
    ['logo', logoUrl || 'none'],
    ['websites', websites.join(', ') || 'none yet: prove a domain with `emailauth sites verify <domain>`'],
    ['preview', previewUrl],
  ];
  const text = rows.map(([term, value]) => `${terminal.style('dim', term.padEnd(10))}${value}`).join('\n');
  terminal.result({ fromName, logoUrl, websites, previewUrl }, text);
  return EXIT.ok;
}
