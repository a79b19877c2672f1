import { normalHost } from '../contract/rules.ts';

/** An origin of a service, which may stand in a shell's quotes and in string literals. */
export const SERVICE_ORIGIN = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/;

/** Asks once whom a token is for, quoted for a shell. `TOKEN` stands for what the callback was given. */
export const verifyRequest = (origin: string, domain: string) => `curl '${origin}/api/verify-token?token=TOKEN&domain=${domain}'`;

/**
 * What is left to do once a domain is registered, whatever its site is built with: three steps, for people and assistants.
 * What to copy stands on a line of its own, below the sentence.
 * @param registered as the service answers it
 * @throws RangeError for what is no domain or no address of a service: a step goes into a shell
 */
export function nextSteps(registered: { authUrl: string; domain: string }): string[] {
  const { origin } = new URL(registered.authUrl);
  const domain = normalHost(registered.domain);
  if (!domain) throw new RangeError(`${registered.domain} is no domain.`);
  if (!SERVICE_ORIGIN.test(origin)) throw new RangeError(`${origin} is no origin of a service.`);
  const forwardUrl = encodeURIComponent(`https://${domain}/auth/callback?state=STATE`);
  return [
    `Send visitors here, with a random state that you keep in a cookie:\n${origin}/auth?forward_url=${forwardUrl}`,
    `They return with a token. Compare the state; verify the token once:\n${verifyRequest(origin, domain)}`,
    'If it is valid, open a session for the email, and leave the token behind.',
  ];
}
