import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isThisMachine } from '../../contract/rules.ts';
import type { Look } from './look.ts';

/** What a site answered. Its headers are text from the network. */
export type SiteAnswer = { status: number; location: string | null; setCookies: string[]; body: string };

/**
 * One GET of a page, as a stranger's browser with no cookies: nothing of ours goes along, and redirects are not followed.
 * @param options.mostBody characters of the body that are read; 0: it is left
 * @throws Error when no answer comes or the certificate is not trusted
 */
export async function askSite(
  url: URL,
  { names, userAgent, signal, mostBody = 0 }: Pick<Look, 'names' | 'userAgent' | 'signal'> & { mostBody?: number },
): Promise<SiteAnswer> {
  const request = url.protocol === 'http:' ? requestHttp : requestHttps;
  const call = request(url, {
    headers: { Accept: 'text/html,application/json;q=0.9,*/*;q=0.8', 'User-Agent': userAgent },
    lookup: names.lookup,
    agent: false,
    // While a site is developed, its certificate is often one that only its browser trusts.
    rejectUnauthorized: !isThisMachine(url.hostname),
    signal,
  }).end();
  // Whatever breaks once the answer has begun is seen on the response.
  call.on('error', () => {});
  const [response]: IncomingMessage[] = await once(call, 'response');
  try {
    let body = '';
    if (mostBody > 0) {
      for await (const chunk of response.setEncoding('utf8')) {
        body += chunk;
        if (body.length > mostBody) break;
      }
    }
    const { statusCode = 0, headers } = response;
    return { status: statusCode, location: headers.location ?? null, setCookies: headers['set-cookie'] ?? [], body };
  } finally {
    call.destroy();
  }
}
