import { EMAIL_MESSAGE, normalEmail } from '../../contract/rules.ts';
import { nextSteps } from '../../templates/next-steps.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit.ts';
import { askText } from '../prompts.ts';
import { askDomain, domainCheck, explainTaken } from '../sites.ts';

/** Registers a domain without a sign-in, as the public form does, and tells how to go on. */
export async function register(context: Context, given: { domain?: string; email?: string }): Promise<ExitCode> {
  const { terminal } = context;
  const domain = given.domain ?? (await askDomain(terminal));
  const email = given.email ?? (await askEmail(context, domain));
  if (given.domain === undefined || given.email === undefined) terminal.note('');
  const client = await context.anonymous();
  const registered = await client
    .registerWebsite({ domain, email })
    .catch((error) => explainTaken(error, domain, `\`emailauth login\`, then \`emailauth sites verify ${domain}\``));
  const steps = nextSteps(registered);
  const quick = `Or let \`emailauth init --domain ${registered.domain}\` write all of it into your project.`;

  const numbered = steps.map((step, i) => `${i + 1}. ${step.replaceAll('\n', '\n   ')}`);
  terminal.answer(
    { domain: registered.domain, email: registered.email, status: 'active', authUrl: registered.authUrl, nextSteps: [...steps, quick] },
    [`${terminal.style('bold', registered.domain)} is registered. Visitors can sign in at once.`, '', ...numbered, '', quick].join('\n'),
  );
  terminal.note(`\nA mail with a sign-in link is on its way to ${registered.email}.\nOpen it within 7 days to keep the domain.`);
  return EXIT.ok;
}

/** @throws CommandError usage for a domain that cannot be registered, before the person types more */
async function askEmail({ terminal }: Context, domain: string): Promise<string> {
  const fault = terminal.interactive ? (await domainCheck())(domain) : undefined;
  if (fault) throw new CommandError(EXIT.usage, 'bad_domain', fault);
  return askText(terminal, {
    message: 'Email address, which will manage the domain',
    flag: '--email <address>',
    placeholder: 'you@example.com',
    validate: (text) => (normalEmail(text) ? undefined : EMAIL_MESSAGE),
  });
}
