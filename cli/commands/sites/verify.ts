import type { Client } from '../../../contract/client.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit.ts';
import { askChoice } from '../../prompts.ts';
import { isAnswer, ownSite, type Site } from '../../sites.ts';
import type { Terminal } from '../../terminal.ts';

type Claim = Pick<Site, 'domain' | 'proof'>;

/** Shows how to prove a domain, the caller's or one to take over, and has the service look for the proof. */
export async function verify({ terminal, signedIn }: Context, text: string): Promise<ExitCode> {
  const { client } = await signedIn();
  const own = ownSite(await client.listWebsites({}), text);
  if (own?.verified) return tell(terminal, own, true, `${own.displayDomain} is verified already.`);
  let claim: Claim = own ?? (await client.claimWebsite({ domain: text }));
  const { domain } = claim;
  const asks = terminal.interactive && !terminal.json;
  if (asks)
    terminal.note(`${own ? '' : `${domain} is not one of your websites. A proof makes it yours.\n\n`}${instructions(terminal, claim)}\n`);
  for (;;) {
    terminal.progress(`Looking for the proof of ${domain} …`);
    const fault = await check(client, domain).finally(() => terminal.progress(''));
    if (!fault) return tell(terminal, claim, true, `${domain} is verified${own ? '' : ', and one of your websites'}.`);
    if (!asks) return tell(terminal, claim, false, `${fault}\n\n${instructions(terminal, claim)}\n\nThen run it again.`);
    const next = await askChoice(terminal, {
      message: `${fault} A new DNS record is mostly seen within minutes, rarely after an hour.`,
      flag: '',
      choices: [
        { value: 'again', label: 'Check again' },
        { value: 'later', label: 'Later' },
      ],
    });
    const newest = await client.claimWebsite({ domain });
    if (newest.proof.value !== claim.proof.value) terminal.note(`The value was replaced.\n\n${instructions(terminal, newest)}\n`);
    claim = newest;
    if (next === 'later') return tell(terminal, claim, false, `Later: \`emailauth sites verify ${domain}\``);
  }
}

/** @returns undefined for a proof that was found, else the sentence of the service */
async function check(client: Client, domain: string): Promise<string | undefined> {
  try {
    await client.proveWebsite({ domain });
    return undefined;
  } catch (error) {
    if (isAnswer(error, 'not_proven')) return error.message;
    throw error;
  }
}

function tell(terminal: Terminal, { domain, proof }: Claim, verified: boolean, text: string): ExitCode {
  terminal.answer({ domain, verified, proof }, text);
  return verified ? EXIT.ok : EXIT.no;
}

/** Each value stands alone at the end of its line, so that it can be copied. */
function instructions({ style }: Terminal, { proof: { record, value, fileUrl, fileBody } }: Claim): string {
  const row = (name: string, text: string) => `  ${style('dim', name.padEnd(9))}${text}`;
  return [
    style('bold', 'Add a DNS record'),
    row('name', record),
    row('type', 'TXT'),
    row('value', value),
    '',
    style('bold', 'Or put a file on the site'),
    row('address', fileUrl),
    row('content', fileBody),
  ].join('\n');
}
