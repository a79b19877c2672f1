import { normalHost } from '../contract/rules.ts';

/** Matches a service origin that is safe inside shell quotes and string literals. */
export const SERVICE_ORIGIN = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/;

/** Returns a curl command that verifies a token. `TOKEN` stands for the token that the callback received. */
export const verifyRequest = (origin: string, domain: string) => `curl '${origin}/api/verify-token?token=TOKEN&domain=${domain}'`;

/**
 * Returns the three steps after the registration of a domain, for any framework. Code to copy is on a line below the sentence.
 * @param registered the response of the registration
 * @throws RangeError for an invalid domain or service address, because a step is pasted into a shell
 */
export function nextSteps(registered: { authUrl: string; domain: string }): string[] {
  const { origin } = new URL(registered.authUrl);
  const domain = normalHost(registered.domain);
  if (!domain) throw new RangeError(`"${registered.domain}" is not a valid domain.`);
  if (!SERVICE_ORIGIN.test(origin)) throw new RangeError(`"${origin}" is not a valid origin of a service.`);
  const forwardUrl = encodeURIComponent(`https://${domain}/auth/callback?state=STATE`);
  return [
    `Send visitors to this URL, with a random state that you keep in a cookie:\n${origin}/auth?forward_url=${forwardUrl}`,
    `They return with a token. Compare the state, then verify the token once:\n${verifyRequest(origin, domain)}`,
    'If it is valid, open a session for the email address, and redirect to a URL without the token.',
  ];
}
