import { randomBytes } from 'node:crypto';
import { type Check, fail, oneLine, pass, runCheck, skip, type Verdict } from '../../contract/check.ts';
import { askSite, type SiteAnswer } from './ask-site.ts';
import type { Look, Ways } from './look.ts';
import { isOurs, networkFault } from './network-fault.ts';
import type { Target } from './target.ts';

/**
 * Whether the site's callback is there, and refuses a token that nobody issued.
 * @param service origin of the service, where a callback may send its visitor back to
 */
export async function checkCallback(target: Target, service: string, look: Look): Promise<Check[]> {
  const { callback } = target;
  const { ways } = look;
  const lookAgain = `See that the site runs, or give the right address with ${ways.url}.`;
  let plain: SiteAnswer | null = null;
  const late = fail('The callback did not answer in time.', lookAgain);
  const there = await runCheck({ id: 'callback', name: 'Callback', ...look, late }, async (until) => {
    if (!callback)
      return skip(
        'On this machine only you know its port.',
        `Give it with ${ways.url}, such as ${ways.url} http://localhost:5173/auth/callback`,
      );
    try {
      plain = await askSite(callback, { ...look, signal: until });
    } catch (error) {
      if (until.aborted) return late;
      const fault = networkFault(error, callback.host);
      return isOurs(fault) ? skip(fault.detail) : fail(fault.detail, fault.fix || lookAgain);
    }
    return judgeCallback(plain, target, callback, service, ways);
  });
  const refuses = await runCheck({ id: 'callback_refusal', name: 'Refusal of a foreign token', ...look, late }, async (until) => {
    if (!callback || !plain || there.ok === false || plain.status === 429) return skip('There is no callback that could be tried.');
    const forged = new URL(callback);
    forged.searchParams.append('token', randomBytes(32).toString('base64url'));
    return judgeRefusal(plain, await askSite(forged, { ...look, signal: until }));
  });
  return [there, refuses];
}

/** @param answer to a visitor who brings no token */
export function judgeCallback({ status, location }: SiteAnswer, { local }: Target, callback: URL, service: string, ways: Ways): Verdict {
  const where = `${callback.host}${callback.pathname}`;
  if (status === 404 || status === 410) {
    return fail(
      `There is nothing at ${where} (${status}).`,
      `Serve the callback there, or give its address with ${ways.url}. ${ways.write}`,
    );
  }
  if (status === 405) return fail(`${where} does not take GET (405), by which visitors come.`, 'Let the callback answer GET.');
  if (status === 429) return skip(`${where} asks to be left alone for a while (429).`, 'Try again later.');
  if (status >= 500) return fail(`${where} fails with ${status} when there is no token.`, "See the site's log; it should answer 400.");
  if (status >= 300 && status < 400) return judgeTarget(status, location, callback, service, where, ways);
  if (status < 300) {
    return skip(
      `${where} answers ${status} to a visit without a token, as any page would.`,
      'See that this is the callback; it should refuse such a visit with 400, as our templates do.',
    );
  }
  const advice = !local && callback.port ? 'Visitors are sent to port 443 alone, so this port is good for trying only.' : '';
  return pass(`${where} is there and refuses a visit without a token (${status}).`, advice);
}

function judgeTarget(status: number, location: string | null, callback: URL, service: string, where: string, ways: Ways): Verdict {
  const target = location && URL.canParse(location, callback.href) ? new URL(location, callback) : null;
  if (!target) return fail(`${where} answers ${status} without saying where to.`, 'Give the redirect a Location.');
  const shown = oneLine(target.host, 60);
  if (target.protocol === 'http:' && callback.protocol === 'https:') {
    return fail(`${where} redirects to http at ${shown}, where a token could be read on the way.`, 'Redirect to https.');
  }
  if (target.host === callback.host || target.origin === service) return pass(`${where} sends a visitor without a token on (${status}).`);
  const fix = `Serve the callback at ${callback.host} itself, or use ${shown} in forward_url and check it with ${ways.url}.`;
  return fail(`${where} redirects to another host, ${shown}, and the token with it.`, fix);
}

/**
 * A made-up token, and no state, should change nothing. A page that is fine with it and hands out a cookie that a visitor
 * without a token does not get looks as if it signed somebody in.
 * @param plain the answer without a token
 * @param forged the answer to the made-up one
 */
export function judgeRefusal(plain: SiteAnswer, forged: SiteAnswer): Verdict {
  const { status } = forged;
  if (status >= 500) {
    return fail(`The callback fails with ${status} on a made-up token.`, "See the site's log, and that its server reaches the service.");
  }
  if (status >= 400) return pass(`A made-up token is refused (${status}).`);
  const known = plain.status >= 400 ? new Set() : new Set(liveCookies(plain));
  const fresh = liveCookies(forged).filter((name) => !known.has(name));
  if (fresh.length === 0 && status < 300) {
    return skip(
      `A made-up token gets a page (${status}) and no cookie: whether it was refused cannot be told.`,
      'Let the callback refuse it with 400.',
    );
  }
  if (fresh.length === 0) return pass(`A made-up token gets no cookie (${status}).`);
  return fail(
    `A made-up token without state is answered with ${status} and the cookie ${oneLine(fresh.join(', '), 60)}: it may have signed somebody in.`,
    'See that the callback compares state, asks /api/verify-token with its domain, and goes on only if valid is true.',
  );
}

/** Names of the cookies that an answer sets, without those that it takes away. */
function liveCookies({ setCookies }: SiteAnswer): string[] {
  return setCookies.flatMap((cookie) => {
    const [pair, ...attributes] = cookie.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    const gone = attributes.some((attribute) => {
      const [name, value = ''] = attribute.split('=');
      if (/^max-age$/i.test(name)) return Number(value) <= 0;
      return /^expires$/i.test(name) && Date.parse(value) < Date.now();
    });
    return at > 0 && pair.length > at + 1 && !gone ? [pair.slice(0, at)] : [];
  });
}
