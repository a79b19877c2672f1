import type { Output } from '../../contract/calls.ts';
import type { Client } from '../../contract/client.ts';
import { LOCALHOST } from '../../contract/urls.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { shapeOf } from '../shapes.ts';
import { dayOf, details, minuteOf, records, type Terminal, table } from '../terminal.ts';

type Settings = Output<'settings'>;
type Overview = Output<'overview'>;

const MAX_LOG_ENTRIES = 100;

const accountGet: CommandSpec = {
  usage: 'account get',
  needs: 'sign-in',
  group: 'Account',
  summary: 'your name and organization, and the numbers of the last 30 days',
  examples: ['account get', 'account get --json'],
  json: withField(shapeOf('settings'), 'overview', shapeOf('overview')),
  async run({ terminal, signedIn }) {
    const { client } = await signedIn();
    const [settings, overview] = await Promise.all([client.settings({}), client.overview({})]);
    terminal.result({ ...settings, overview }, `${formatSettings(settings, terminal)}\n\n${formatOverview(overview, terminal)}`);
    return EXIT.ok;
  },
};

const accountSet: CommandSpec = {
  usage: 'account set',
  needs: 'sign-in',
  group: 'Account',
  summary: 'change your name or organization',
  flags: { '--name <name>': 'your name; empty: none', '--organization <name>': 'your organization; empty: none' },
  examples: ['account set --name Ada', 'account set --name "Ada Lovelace" --organization "Analytical Engines"'],
  json: shapeOf('settings'),
  async run({ terminal, signedIn }, _, { name, organization }) {
    if (name === undefined && organization === undefined) throw usageError('Nothing to change.', 'Give --name or --organization.');
    const { client } = await signedIn();
    let settings = name === undefined ? undefined : await client.saveProfile({ name });
    if (organization !== undefined) settings = await client.saveOrganisation({ organisation: organization });
    terminal.result(settings, formatSettings(settings as Settings, terminal));
    return EXIT.ok;
  },
};

const accountLog: CommandSpec = {
  usage: 'account log',
  needs: 'sign-in',
  group: 'Account',
  summary: 'what you changed and your own sign-ins, newest first',
  flags: { '--limit <n>': `how many entries: 1 to ${MAX_LOG_ENTRIES}; 20 by default` },
  examples: ['account log', 'account log --limit 100 --json'],
  json: shapeOf('auditLogs'),
  async run({ terminal, signedIn }, _, { limit = '20' }) {
    const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
    if (count < 1 || count > MAX_LOG_ENTRIES) throw usageError(`--limit takes a number from 1 to ${MAX_LOG_ENTRIES}.`);
    const { client } = await signedIn();
    const entries = await client.auditLogs({ limit: count });
    const rows = entries.map(({ createdAt, action, displayDomain, object, actor, device }) => [
      minuteOf(createdAt),
      action,
      [displayDomain, object].filter(Boolean).join(' '),
      actor ?? device ?? '',
    ]);
    terminal.result(entries, entries.length > 0 ? records(['TIME (UTC)', 'ACTION', 'OBJECT', 'SOURCE'], rows, terminal) : '');
    if (entries.length === 0) terminal.note('There is no activity yet.');
    return EXIT.ok;
  },
};

/** Returns the shape of an object with one more field. */
function withField(shape: string, name: string, fieldShape: string): string {
  return shape.replace(/}$/, `,${name}:${fieldShape}}`);
}

function formatSettings({ email, name, organisation, plan, createdAt }: Settings, terminal: Terminal): string {
  const rows = [
    ['name', name || 'none'],
    ['organization', organisation || 'none'],
    ['plan', plan],
    ['since', dayOf(createdAt)],
  ];
  return details(email, rows, 14, terminal);
}

function formatOverview({ totalLogins, activeApplications, apiRequests, uptimePercent }: Overview, { style }: Terminal): string {
  const rows: [string, string][] = [
    ['sign-ins', totalLogins.toLocaleString('en')],
    ['active applications', activeApplications.toLocaleString('en')],
    ['API requests', apiRequests.toLocaleString('en')],
    // Rounded down: 100 % means no failure at all.
    ['uptime of the service', uptimePercent === null ? 'not known yet' : `${Math.floor(uptimePercent * 100) / 100} %`],
  ];
  return [style('bold', 'Last 30 days'), table(rows.map(([term, value]) => [`  ${term}`, value]))].join('\n');
}

type Branding = Output<'settings'>['branding'];

const BRANDING_SHAPE = '{fromName,logoUrl,websites,previewUrl}';

const brandingGet: CommandSpec = {
  usage: 'branding get',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the sender and the logo of the sign-in emails of your websites',
  about: 'It applies to websites whose domain is verified. The page of the preview needs a browser in which you are signed in.',
  examples: ['branding get', 'branding get --json | jq -r .previewUrl'],
  json: BRANDING_SHAPE,
  async run({ terminal, signedIn }) {
    const { client, host } = await signedIn();
    const { branding } = await client.settings({});
    return printBranding(terminal, client, host, branding);
  },
};

const brandingSet: CommandSpec = {
  usage: 'branding set',
  needs: 'sign-in',
  group: 'Account',
  summary: 'change the sender or the logo of the sign-in emails of your websites',
  about: 'What you do not give stays. It applies to the next emails of websites whose domain is verified.',
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
  // Every account manages localhost in local mode, and none has its branding there.
  const verified = (await client.listWebsites({})).filter((website) => website.verified && website.domain !== LOCALHOST);
  const websites = verified.map(({ domain }) => domain);
  const previewUrl = `${host}/dashboard/settings/preview?${new URLSearchParams({ fromName, logoUrl, language: 'en' })}`;
  const rows: [string, string][] = [
    ['from', fromName || 'the name of the service'],
    ['logo', logoUrl || 'none'],
    ['websites', websites.join(', ') || 'none yet: verify a domain with `emailauth sites verify <domain>`'],
    ['preview', previewUrl],
  ];
  const text = rows.map(([term, value]) => `${terminal.style('dim', term.padEnd(10))}${value}`).join('\n');
  terminal.result({ fromName, logoUrl, websites, previewUrl }, text);
  return EXIT.ok;
}

export const accountCommands: readonly CommandSpec[] = [brandingGet, brandingSet, accountGet, accountSet, accountLog];
