import type { Output } from '../../contract/calls.ts';
import type { Client } from '../../contract/client.ts';
import { hasCode } from '../../contract/errors.ts';
import { ICON_RULE } from '../../contract/limits.ts';
import { domainInput, findByDomain, LOCALHOST } from '../../contract/urls.ts';
import type { CommandSpec, Context } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { promptChoice, promptText, requireConfirmation } from '../prompts.ts';
import { shapeOf } from '../shapes.ts';
import { displayName, formatSite, promptDomain, requireSite, siteData, throwTaken } from '../sites.ts';
import { dayOf, records, type Terminal, table } from '../terminal.ts';

const sitesList: CommandSpec = {
  usage: 'sites list',
  needs: 'sign-in',
  group: 'Websites',
  summary: 'your websites',
  examples: ['sites list', "sites list --json | jq -r '.[].domain'"],
  json: shapeOf('listWebsites', 'signIns'),
  async run({ terminal, signedIn }) {
    const { client, host } = await signedIn();
    const { STATS_DAYS } = await import('../../contract/limits.ts');
    const [sites, stats] = await Promise.all([client.listWebsites({}), client.websiteStats({})]);
    const heading = `SIGN-INS (${STATS_DAYS}D)`;
    const signInsOf = (id: string) => stats.find((each) => each.id === id)?.completed ?? 0;
    const rows = sites.map((site) => [
      displayName(site),
      site.verified ? 'yes' : 'no',
      signInsOf(site.id).toLocaleString('en').padStart(heading.length),
      dayOf(site.createdAt),
    ]);
    const result = sites.map((site) => ({ ...siteData(site, host), signIns: signInsOf(site.id) }));
    terminal.result(result, sites.length > 0 ? records(['DOMAIN', 'VERIFIED', heading, 'SINCE'], rows, terminal) : '');
    // localhost of local mode was not added.
    if (sites.every(({ domain }) => domain === LOCALHOST))
      terminal.note('You have no websites yet. Add one: `emailauth sites add shop.example`');
    return EXIT.ok;
  },
};

const sitesAdd: CommandSpec = {
  usage: 'sites add [domain]',
  needs: 'sign-in',
  choices: { '--icon': 'files' },
  group: 'Websites',
  summary: 'add a website',
  flags: { '--icon <file>': `${ICON_RULE}, shown on the sign-in page` },
  examples: ['sites add shop.example', 'sites add shop.example --icon logo.png'],
  json: shapeOf('createWebsite'),
  exits: { 6: 'the domain is registered already' },
  async run(context, [given], { icon: file }) {
    const { terminal } = context;
    const { client, host } = await context.signedIn();
    const icon = await openIconFile(context, file || undefined);
    const domain = domainInput(given ?? (await promptDomain(terminal)));
    // The icon is uploaded first, so that no website is added when that fails.
    const iconUrl = await icon?.upload(client, host);
    const site = await client.createWebsite({ domain, iconUrl }).catch(async (error) => {
      if (hasCode(error, 'domain_taken') && findByDomain(await client.listWebsites({}), domain)) {
        const hint = `See it with \`emailauth sites get ${domain}\`.`;
        throw new CommandError(EXIT.conflict, 'domain_taken', `${domain} is one of your websites already.`, hint);
      }
      return throwTaken(error, domain, `\`emailauth sites verify ${domain}\``);
    });
    terminal.result(siteData(site, host), formatSite(context, site, host));
    if (!site.verified)
      terminal.note(`\nVisitors can sign in now. To write the sign-in into your project:\n\`emailauth init --domain ${site.domain}\``);
    return EXIT.ok;
  },
};

type SiteStats = Omit<Output<'websiteStats'>[number], 'id'>;

const sitesGet: CommandSpec = {
  usage: 'sites get <domain>',
  needs: 'sign-in',
  choices: { domain: 'sites' },
  group: 'Websites',
  summary: 'one website and its sign-ins of 30 days',
  examples: ['sites get shop.example'],
  json: shapeOf('readWebsite', 'stats'),
  async run(context, [domain = '']) {
    const { terminal } = context;
    const { client, host } = await context.signedIn();
    const site = await requireSite(client, domain);
    const { NO_STATS } = await import('../../contract/methods.ts');
    const { id, ...stats } = (await client.websiteStats({})).find((each) => each.id === site.id) ?? { id: site.id, ...NO_STATS };
    const { STATS_DAYS } = await import('../../contract/limits.ts');
    const title = terminal.style('bold', `Last ${STATS_DAYS} days`);
    terminal.result({ ...siteData(site, host), id, stats }, `${formatSite(context, site, host)}\n\n${title}\n${await formatStats(stats)}`);
    return EXIT.ok;
  },
};

/** Returns the counts of a website as lines of text. */
async function formatStats({ sent, completed, medianSeconds, ...counts }: SiteStats): Promise<string> {
  const { METHODS, OTHERS_AS_COUNTED, ofEmails, signInsByMethod } = await import('../../contract/methods.ts');
  // A service of an earlier version counts all sign-ins without an email together.
  const signIns = signInsByMethod(counts);
  const others = OTHERS_AS_COUNTED.filter((method) => signIns[method] > 0 || !('isExperimental' in METHODS[method]));
  const rows: [string, number][] = [
    ['emails requested', sent],
    [ofEmails('and', (noun, done) => `${noun}s ${done}`), counts.opened],
    ...others.map((method): [string, number] => [`${METHODS[method].plural.text}, without an email`, signIns[method]]),
    ['tokens that the website verified', completed],
  ];
  const digits = Math.max(...rows.map(([, count]) => count.toLocaleString('en').length));
  const lines = table(rows.map(([name, count]) => [`  ${name}`, count.toLocaleString('en').padStart(digits)]));
  return medianSeconds === null ? lines : `${lines}\n  half of the emails are opened within ${medianSeconds} s`;
}

const sitesUpdate: CommandSpec = {
  usage: 'sites update <domain>',
  needs: 'sign-in',
  choices: { domain: 'sites', '--icon': 'files' },
  group: 'Websites',
  summary: 'change the domain or the icon of a website',
  about:
    'With a new domain, sign-ins at the old one end immediately, and the new one has to be verified again: you confirm that, or pass --yes.',
  flags: {
    '--domain <domain>': 'the new domain',
    '--icon <file>': ICON_RULE,
    '--no-icon': 'remove the icon',
  },
  examples: ['sites update shop.example --icon logo.png', 'sites update shop.example --domain store.example --yes'],
  json: shapeOf('updateWebsite'),
  exits: { 6: 'the new domain is registered already' },
  async run(context, [given = ''], { domain: newDomain, icon: file }) {
    const { terminal } = context;
    if (newDomain === undefined && file === undefined) throw usageError('Nothing to change.', 'Give --domain, --icon or --no-icon.');
    const { client, host } = await context.signedIn();
    const icon = await openIconFile(context, file);
    const current = await requireSite(client, given);
    const { id, domain, verified } = current;
    const consequence = verified ? ' The new domain has to be verified again.' : '';
    if (newDomain !== undefined && !findByDomain([current], newDomain)) {
      const question = `Sign-ins at ${displayName(current)} end immediately.${consequence} Change it to ${domainInput(newDomain)}?`;
      await requireConfirmation(terminal, question);
    }
    const iconUrl = file === false ? null : await icon?.upload(client, host);
    const wanted = newDomain === undefined ? domain : domainInput(newDomain);
    const site = await client
      .updateWebsite({ id, domain: wanted, iconUrl })
      .catch((error) => throwTaken(error, wanted, `\`emailauth sites verify ${wanted}\``));
    terminal.result(siteData(site, host), formatSite(context, site, host));
    if (site.domain !== domain) terminal.note(`\nSign-ins at ${domain} have ended; ${site.domain} replaces it.${consequence}`);
    return EXIT.ok;
  },
};

const sitesGiveBack: CommandSpec = {
  usage: 'sites give-back <domain>',
  needs: 'sign-in',
  choices: { domain: 'sites' },
  group: 'Websites',
  summary: 'give a website back that someone else registered with your address',
  about: 'It is for a website that you neither added nor verified; its sign-in ends immediately.',
  examples: ['sites give-back shop.example'],
  json: '{domain,givenBack}',
  exits: { 6: 'you added or verified the website yourself' },
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const site = await requireSite(client, given);
    await client.giveBackWebsite({ id: site.id });
    terminal.result({ domain: site.domain, givenBack: true }, `${displayName(site)} is given back.`);
    return EXIT.ok;
  },
};

const sitesRemove: CommandSpec = {
  usage: 'sites remove <domain>',
  needs: 'sign-in',
  choices: { domain: 'sites' },
  group: 'Websites',
  summary: 'delete a website; its sign-in ends immediately',
  about: 'You confirm it by typing the domain, or with --yes.',
  examples: ['sites remove shop.example', 'sites remove shop.example --yes'],
  json: '{domain,removed}',
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const site = await requireSite(client, given);
    if (!terminal.yes) {
      await promptText(terminal, {
        message: `Sign-ins at ${displayName(site)} end immediately. Type the domain to delete it`,
        flag: '--yes',
        validate: (typed) => (findByDomain([site], typed) ? undefined : `Type ${site.displayDomain}, or press Ctrl-C to keep it`),
      });
      terminal.note('');
    }
    await client.deleteWebsite({ id: site.id });
    terminal.result({ domain: site.domain, removed: true }, `${displayName(site)} is removed.`);
    return EXIT.ok;
  },
};

const sitesVerify: CommandSpec = {
  usage: 'sites verify <domain>',
  needs: 'sign-in',
  choices: { domain: 'sites' },
  group: 'Websites',
  summary: 'verify that a domain is yours, by DNS or by a file',
  about:
    'Shows the TXT record and the file, and checks them; one of them is enough. A proof lifts the limits of a new website, and takes a domain over from an address that has not proven it.',
  examples: ['sites verify shop.example', 'sites verify shop.example --json'],
  json: '{domain,verified,proof}',
  exits: { 10: 'the proof was not found' },
  run: (context, [domain = '']) => verifyDomain(context, domain),
};

type Claim = Output<'claimWebsite'>;

/**
 * Shows how to verify a domain, the caller's or one to take over. The service checks the proof until it is found or the person puts it off.
 */
async function verifyDomain({ terminal, signedIn }: Context, text: string): Promise<number> {
  const { client } = await signedIn();
  const own = findByDomain(await client.listWebsites({}), text);
  if (own?.verified) return printProof(terminal, own, true, `${own.displayDomain} is verified already.`);
  let claim: Claim = own ?? (await client.claimWebsite({ domain: text }));
  const { domain } = claim;
  const isPrompting = terminal.interactive && !terminal.json;
  const intro = own ? '' : `${domain} is not one of your websites. A proof makes it yours.\n\n`;
  if (isPrompting) terminal.note(`${intro}${formatInstructions(terminal, claim)}\n`);
  for (;;) {
    terminal.progress(`Checking the proof of ${domain} …`);
    const problem = await checkProof(client, domain).finally(() => terminal.progress(''));
    if (!problem) return printProof(terminal, claim, true, `${domain} is verified${own ? '' : ', and one of your websites'}.`);
    if (!isPrompting)
      return printProof(terminal, claim, false, `${problem}\n\n${formatInstructions(terminal, claim)}\n\nThen run it again.`);
    const next = await promptChoice(terminal, {
      message: `${problem} A new DNS record usually takes minutes, rarely an hour.`,
      flag: '',
      choices: [
        { value: 'again', label: 'Check again' },
        { value: 'later', label: 'Later' },
      ],
    });
    const newest = await client.claimWebsite({ domain });
    if (newest.proof.value !== claim.proof.value) terminal.note(`The value was replaced.\n\n${formatInstructions(terminal, newest)}\n`);
    claim = newest;
    if (next === 'later') return printProof(terminal, claim, false, `Later: \`emailauth sites verify ${domain}\``);
  }
}

/** Returns undefined when the proof was found, else the message of the service. */
async function checkProof(client: Client, domain: string): Promise<string | undefined> {
  try {
    await client.proveWebsite({ domain });
    return undefined;
  } catch (error) {
    if (hasCode(error, 'not_proven')) return error.message;
    throw error;
  }
}

function printProof(terminal: Terminal, { domain, proof }: Claim, verified: boolean, text: string): number {
  terminal.result({ domain, verified, proof }, text);
  return verified ? EXIT.ok : EXIT.negative;
}

/** Returns the record and the file that verify a domain, as lines of text. Each value ends its line, so that it can be copied. */
function formatInstructions({ style }: Terminal, { proof: { record, value, fileUrl, fileBody } }: Claim): string {
  const row = (name: string, text: string) => `  ${style('dim', name.padEnd(9))}${text}`;
  return [
    style('bold', 'Add a DNS record'),
    row('name', record),
    row('type', 'TXT'),
    row('value', value),
    '',
    style('bold', 'Or put a file on the website'),
    row('address', fileUrl),
    row('content', fileBody),
  ].join('\n');
}

/** Opens the file of --icon, if there is one. */
async function openIconFile(context: Context, file: string | false | undefined) {
  if (typeof file !== 'string') return undefined;
  const { openIcon } = await import('../icon.ts');
  return openIcon(context, file);
}

export const sitesCommands: readonly CommandSpec[] = [sitesList, sitesAdd, sitesGet, sitesUpdate, sitesGiveBack, sitesRemove, sitesVerify];
