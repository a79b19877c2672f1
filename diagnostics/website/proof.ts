import { type Check, fail, oneLine, pass, runCheck, skip } from '../../contract/check.ts';
import type { Client } from '../../contract/client.ts';
import { hasProofText } from '../../contract/rules.ts';
import { askSite } from './ask-site.ts';
import type { Look } from './look.ts';
import type { Registered } from './registration.ts';
import type { Target } from './target.ts';

/** The proof file holds 50 characters. */
const MAX_FILE = 4_096;

/**
 * Whether the domain's proof counts. A sign-in works without one, so an owner who has not begun to prove the domain hears no
 * more than what is to be gained; one who has published a proof that does not count hears what is missing.
 * @param site as checkRegistered found it
 * @param client of somebody signed in; null: nobody is
 */
export function checkProof({ local }: Target, site: Registered | null, client: Client | null, look: Look): Promise<Check> {
  const { names, ways } = look;
  return runCheck({ id: 'proof', name: 'Proof of the domain', ...look }, async (until) => {
    if (local) return skip('localhost belongs to nobody.');
    if (!site) return skip('Only a registered domain has one.');
    const { domain } = site;
    if (site.verified) return pass(`${domain} is proved.`);
    const record = `_emailauth.${domain}`;
    const texts = await names.texts(record);
    if (!client) {
      const found = texts.length > 0 ? `There is a record at ${record}, but it` : 'It';
      return skip(`${domain} is not proved. ${found} can be checked only for who is signed in.`, ways.signIn);
    }
    const { proof } = await client.claimWebsite({ domain }, { signal: until });
    const check = ways.prove(domain);
    if (hasProofText(texts, proof.value)) {
      return fail('The TXT record of the proof is there, but the service has not checked it.', check);
    }
    if (await hasFile(new URL(`https://${domain}/.well-known/emailauth.json`), proof.value, { ...look, signal: until })) {
      return fail('The file of the proof is there, but the service has not checked it.', check);
    }
    if (texts.length > 0) {
      return fail(`The TXT record at ${record} is not yours: it holds another value.`, `Set it to ${oneLine(proof.value)}, then: ${check}`);
    }
    return skip(`${domain} is not proved. Sign-ins work, but whoever proves it takes it over.`, check);
  });
}

async function hasFile(url: URL, value: string, look: Look): Promise<boolean> {
  try {
    const { status, body } = await askSite(url, { ...look, mostBody: MAX_FILE });
    return status === 200 && JSON.parse(body)?.emailauth === value;
  } catch {
    return false;
  }
}
