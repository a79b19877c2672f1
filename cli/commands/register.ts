import { EMAIL_MESSAGES, emailFaultOf, readEmail } from '../../contract/emails.ts';
import { websiteHome } from '../../contract/pages.ts';
import { domainInput } from '../../contract/urls.ts';
import type { CommandSpec, Context } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { promptText } from '../prompts.ts';
import { loadDomainValidation, promptDomain, throwTaken } from '../sites.ts';

export const register: CommandSpec = {
  usage: 'register [domain]',
  needs: 'service',
  group: 'Websites',
  summary: 'register a domain with its linked address',
  about: 'Needs no sign-in. Visitors can sign in immediately; the linked address gets an email and manages the domain.',
  flags: { '--email <address>': 'the linked address' },
  examples: ['register', 'register shop.example --email you@example.com'],
  json: '{domain,email,status,authUrl,nextSteps}',
  exits: { 6: 'the domain is registered already' },
  async run(context, [givenDomain], { email: givenEmail }) {
    const { terminal } = context;
    const { nextSteps } = await import('../../templates/render.ts');
    const domain = domainInput(givenDomain ?? (await promptDomain(terminal)));
    const email = givenEmail ?? (await promptEmail(context, domain));
    if (givenDomain === undefined || givenEmail === undefined) terminal.note('');
    const client = await context.anonymous();
    const registered = await client
      .registerWebsite({ domain, email })
      .catch((error) => throwTaken(error, domain, `\`emailauth login\`, then \`emailauth sites verify ${domain}\``));
    const { findInbox, whereToRead } = await import('../login-attempts.ts');
    const { origin } = new URL(registered.authUrl);
    const where = await whereToRead(await findInbox(origin, context.signal), registered.email);
    const steps = nextSteps(registered);
    const shortcut = `Or let \`emailauth init --domain ${registered.domain}\` write all of it into your project.`;

    const numbered = steps.map((step, i) => `${i + 1}. ${step.replaceAll('\n', '\n   ')}`);
    terminal.result(
      {
        domain: registered.domain,
        email: registered.email,
        status: 'active',
        authUrl: registered.authUrl,
        nextSteps: [...steps, shortcut],
      },
      [`${terminal.style('bold', registered.domain)} is registered. Visitors can sign in now.`, '', ...numbered, '', shortcut].join('\n'),
    );
    terminal.note(
      [
        '',
        `An email with a sign-in link is on its way to ${registered.email}.`,
        ...(where ? [where] : []),
        'Open it within 7 days to keep the domain. The page of the website shows what is left to do:',
        new URL(websiteHome(registered.domain), registered.authUrl).href,
      ].join('\n'),
    );
    return EXIT.ok;
  },
};

/** @throws CommandError bad_domain for a domain that cannot be registered, before the person types more */
async function promptEmail({ terminal }: Context, domain: string): Promise<string> {
  const problem = terminal.interactive ? (await loadDomainValidation())(domain) : undefined;
  if (problem) throw new CommandError(EXIT.usage, 'bad_domain', problem);
  return promptText(terminal, {
    message: 'Email address, which will manage the domain',
    flag: '--email <address>',
    placeholder: 'you@example.com',
    validate: (text) => (readEmail(text) ? undefined : EMAIL_MESSAGES[emailFaultOf(text)]),
  });
}
