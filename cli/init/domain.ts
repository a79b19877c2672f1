import { domainMessage, normalHost } from '../../contract/rules.ts';
import type { Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { askChoice, askText } from '../prompts.ts';

const FLAG = '--domain <domain>';
const OTHER = '';
/** How long the service may take to answer what is only good to know. */
const PATIENCE_MS = 5000;

/** Asks for the domain, and proposes one's own websites. @throws CommandError usage where nobody can be asked */
export async function askDomain(context: Context): Promise<string> {
  const { terminal } = context;
  if (!terminal.interactive) {
    throw usageError(
      `${FLAG} is missing, and nobody can be asked here.`,
      `Give ${FLAG}: a registered one, or localhost while you develop.`,
    );
  }
  const own = await ownDomains(context);
  const choices = [
    ...own.map((domain) => ({ value: domain, label: domain })),
    { value: 'localhost', label: 'localhost', hint: 'while you develop' },
    { value: OTHER, label: 'another domain' },
  ];
  const message = 'Which domain is it for?';
  const chosen = await askChoice(terminal, { message, flag: FLAG, choices });
  if (chosen !== OTHER) return chosen;
  const fault = (text: string) => (normalHost(text.trim()) || text.trim() === 'localhost' ? undefined : domainMessage('shop.example'));
  return askText(terminal, { message: 'Your domain', flag: FLAG, placeholder: 'shop.example', validate: fault });
}

/** None when nobody is signed in or the service does not answer. */
async function ownDomains({ signedIn, signal }: Context): Promise<string[]> {
  try {
    const { client } = await signedIn();
    const sites = await client.listWebsites({}, { signal: AbortSignal.timeout(PATIENCE_MS) });
    // Only what is a domain: the answer is drawn on a terminal.
    return sites.map(({ domain }) => domain).filter((domain) => normalHost(domain) === domain);
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}

/** What there is to do so that the service knows a domain, as a sentence; null: nothing. */
export async function whatDomainNeeds({ anonymous, host, signal }: Context, domain: string): Promise<string | null> {
  const service = await host();
  try {
    await (await anonymous()).findWebsite({ domain }, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return null;
  } catch (error) {
    if (signal.aborted) throw error;
    if ((error as { status?: number }).status !== 404) {
      const remedy = domain === 'localhost' ? '`emailauth start`' : `\`emailauth register ${domain}\``;
      return `${service} could not be asked whether it serves ${domain}. If it does not: ${remedy}.`;
    }
    return domain === 'localhost'
      ? `${service} does not serve localhost. Run a service of your own while you develop: \`emailauth start\`.`
      : `${domain} is not registered at ${service}. Register it: \`emailauth register ${domain}\`.`;
  }
}
