import { ApiError, type Client } from '../contract/client.ts';
import { hasProofText } from '../contract/domain-proof.ts';
import type { Output } from '../contract/routes.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import { requestPage } from './request.ts';
import { type CheckOptions, type Remedies, registrableDomain, type Target } from './website.ts';

/** The public record of a registered website. */
export type RegisteredWebsite = Output<'findWebsite'>;

/** Longest proof file that is read, in characters; a proof file has 50. */
const MAX_PROOF_FILE = 4_096;

/**
 * Checks whether the service knows the domain, and as a website of the account that is signed in.
 * @param clients.anonymous null: no service responds
 * @param clients.account null: no account is signed in
 * @returns `website` is null when it is not registered or the service did not respond
 */
export async function checkRegistration(
  { domain, isLocal }: Target,
  clients: { anonymous: Client | null; account: Client | null },
  options: Pick<CheckOptions, 'remedies' | 'signal' | 'deadline'>,
): Promise<{ result: CheckResult; website: RegisteredWebsite | null }> {
  const { anonymous, account } = clients;
  let website: RegisteredWebsite | null = null;
  const result = await runCheck({ id: 'registered', name: 'Registration', ...options }, async (signal) => {
    if (!anonymous) return skip('No service responded.');
    let found: RegisteredWebsite;
    try {
      found = await anonymous.findWebsite({ domain }, { signal });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'website_not_found') return notRegistered(domain, isLocal, options.remedies);
      throw error;
    }
    if (found.domain !== domain && !domain.endsWith(`.${found.domain}`)) throw new Error('the service named another domain');
    website = found;
    if (isLocal) return pass('localhost needs no registration in local mode.');
    const detail = found.domain === domain ? `${domain} is registered.` : `${domain} belongs to ${found.domain}, which is registered.`;
    if (await mayBelongTo(account, found, signal)) return pass(detail);
    return pass(detail, `It is not among your websites. If it is yours, take it over: ${options.remedies.prove(found.domain)}`);
  });
  return { result, website };
}

/** Returns false only when the account is known not to have the website. */
async function mayBelongTo(account: Client | null, { domain }: RegisteredWebsite, signal: AbortSignal): Promise<boolean> {
  const websites = await account?.listWebsites({}, { signal }).catch(() => null);
  return websites?.some((each) => each.domain === domain) ?? true;
}

function notRegistered(domain: string, isLocal: boolean, remedies: Remedies): Finding {
  if (isLocal) return fail('The service does not send visitors to localhost.', 'Use one in local mode for development: `emailauth start`.');
  return fail(`${domain} is not registered at the service.`, remedies.register(registrableDomain(domain)));
}

/**
 * Checks whether the proof of the domain is valid. Sign-ins work without one, so this fails only when the owner has published a
 * proof that does not count; otherwise a missing proof is skipped with what it would gain.
 * @param website as checkRegistration found it
 * @param account null: no account is signed in
 */
export function checkProof(
  { isLocal }: Target,
  website: RegisteredWebsite | null,
  account: Client | null,
  options: CheckOptions,
): Promise<CheckResult> {
  const { dns, remedies } = options;
  return runCheck({ id: 'proof', name: 'Proof of the domain', ...options }, async (signal) => {
    if (isLocal) return skip('localhost needs no proof.');
    if (!website) return skip('Only a registered domain has one.');
    const { domain } = website;
    if (website.verified) return pass(`${domain} is proved.`);
    const record = `_emailauth.${domain}`;
    const texts = await dns.texts(record);
    if (!account) {
      const found = texts.length > 0 ? `There is a record at ${record}, but it` : 'It';
      return skip(`${domain} is not proved. ${found} can only be checked while you are signed in.`, remedies.signIn);
    }
    const { proof } = await account.claimWebsite({ domain }, { signal });
    const prove = remedies.prove(domain);
    if (hasProofText(texts, proof.value)) {
      return fail('The TXT record of the proof is there, but the service has not checked it.', prove);
    }
    if (await hasProofFile(new URL(`https://${domain}/.well-known/emailauth.json`), proof.value, { ...options, signal })) {
      return fail('The file of the proof is there, but the service has not checked it.', prove);
    }
    if (texts.length > 0) {
      return fail(`The TXT record at ${record} is not yours: it holds another value.`, `Set it to ${oneLine(proof.value)}, then: ${prove}`);
    }
    return skip(`${domain} is not proved. Sign-ins work, but anyone who proves the domain takes it over.`, prove);
  });
}

async function hasProofFile(url: URL, value: string, options: CheckOptions): Promise<boolean> {
  try {
    const { status, body } = await requestPage(url, { ...options, maxBody: MAX_PROOF_FILE });
    return status === 200 && JSON.parse(body)?.emailauth === value;
  } catch {
    return false;
  }
}
