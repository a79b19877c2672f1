import type { Client, HttpResponse } from './client.ts';
import type { Stage } from './harness.ts';
import { freshAddress, openLink, requestEmail } from './sign-ins.ts';

/** Headers of a browser that opens a page. */
export const PAGE = { Accept: 'text/html,application/xhtml+xml' };

/**
 * Asks about a request as the proxy of its host does.
 * @param browser has the cookies of the app
 * @param policy query of the proxy's configuration
 * @param headers of the browser's request, and those of the proxy to replace
 */
export function check(browser: Client, url: string, policy = '', headers: Record<string, string> = PAGE): Promise<HttpResponse> {
  const { host, pathname, search } = new URL(url);
  return browser.get(`/api/forward-auth/${host}${policy}`, {
    'X-Forwarded-Uri': pathname + search,
    'X-Forwarded-Method': 'GET',
    ...headers,
  });
}

/** Returns the forward_url of a redirect to the sign-in page; an empty text when there is none. */
export function forwardUrlOf({ headers }: Pick<HttpResponse, 'headers'>): string {
  return new URL(headers.location ?? '').searchParams.get('forward_url') ?? '';
}

/** Requests the email of a sign-in to which a proxy redirected, and opens its link in the same browser. @returns the callback's URL */
export async function signInAtApp(
  { mailbox }: Pick<Stage, 'mailbox'>,
  { forwardUrl, email = freshAddress(), browser }: { forwardUrl: string; email?: string; browser: Client },
): Promise<string> {
  await requestEmail(browser, email, forwardUrl);
  return openLink(browser, await mailbox.waitFor(email));
}

/** Headers by which a browser names the host of the original request. */
export const naming = (host: string) => ({
  'X-Original-URL': `https://${host}/evil`,
  'X-Original-URI': `https://${host}/evil`,
  'X-Original-Method': 'GET',
  'X-Forwarded-Host': host,
  'X-Forwarded-Proto': 'http',
  'X-Forwarded-Port': '8443',
  'X-Forwarded-Server': host,
  'X-Host': host,
  Forwarded: `for=192.0.2.1;host=${host};proto=https`,
});
