import { randomBytes } from 'node:crypto';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import { describeNetworkError, isLocalProblem, type PageResponse, requestPage } from './request.ts';
import type { CheckOptions, Remedies, Target } from './website.ts';

/**
 * Checks whether the website's callback exists, and whether it refuses a token that no service issued.
 * @param service origin of the service, where a callback may redirect its visitor
 */
export async function checkCallback(target: Target, service: string, options: CheckOptions): Promise<CheckResult[]> {
  const { callback } = target;
  const { urlOption } = options.remedies;
  const checkAddress = `Check that the website is running, or give the right address with ${urlOption}.`;
  let plain: PageResponse | null = null;
  const timedOut = fail('The callback did not respond in time.', checkAddress);
  const exists = await runCheck({ id: 'callback', name: 'Callback', ...options, timedOut }, async (signal) => {
    if (!callback) {
      const fix = `Give it with ${urlOption}, such as ${urlOption} http://localhost:5173/auth/callback`;
      return skip('The port of a callback on this machine is unknown.', fix);
    }
    try {
      plain = await requestPage(callback, { ...options, signal });
    } catch (error) {
      if (signal.aborted) return timedOut;
      const problem = describeNetworkError(error, callback.host);
      return isLocalProblem(problem) ? skip(problem.detail) : fail(problem.detail, problem.fix || checkAddress);
    }
    return evaluateCallback(plain, { callback, isLocal: target.isLocal, service, remedies: options.remedies });
  });
  const refuses = await runCheck({ id: 'callback_refusal', name: 'Refusal of a foreign token', ...options, timedOut }, async (signal) => {
    if (!callback || !plain || exists.ok === false || plain.status === 429) return skip('There is no callback to test.');
    const forged = new URL(callback);
    forged.searchParams.append('token', randomBytes(32).toString('base64url'));
    return evaluateForgedToken(plain, await requestPage(forged, { ...options, signal }));
  });
  return [exists, refuses];
}

type CallbackContext = { callback: URL; isLocal: boolean; service: string; remedies: Remedies };

/** Returns the finding for the response to a visitor without a token. */
export function evaluateCallback(response: PageResponse, context: CallbackContext): Finding {
  const { status } = response;
  const { callback, isLocal, remedies } = context;
  const where = `${callback.host}${callback.pathname}`;
  if (status === 404 || status === 410) {
    const fix = `Serve the callback there, or give its address with ${remedies.urlOption}. ${remedies.writeCallback}`;
    return fail(`There is nothing at ${where} (${status}).`, fix);
  }
  if (status === 405) return fail(`${where} does not accept GET (405), the method of a visitor's browser.`, 'Let the callback accept GET.');
  if (status === 429) return skip(`${where} has too many requests (429).`, 'Try again later.');
  if (status >= 500)
    return fail(`${where} fails with ${status} when there is no token.`, "See the website's log; it should respond with 400.");
  if (status >= 300 && status < 400) return evaluateCallbackRedirect(response, context);
  if (status < 300) {
    return skip(
      `${where} responds to a request without a token with ${status}, like an ordinary page.`,
      'Check that this is the callback; it should reject such a request with 400, as our templates do.',
    );
  }
  const advice = !isLocal && callback.port ? 'Visitors are only sent to port 443, so use this port for tests only.' : '';
  return pass(`${where} exists and rejects a request without a token (${status}).`, advice);
}

function evaluateCallbackRedirect({ status, location }: PageResponse, { callback, service, remedies }: CallbackContext): Finding {
  const where = `${callback.host}${callback.pathname}`;
  const target = location && URL.canParse(location, callback.href) ? new URL(location, callback) : null;
  if (!target) return fail(`${where} answers ${status} without a valid Location.`, 'Give the redirect a Location.');
  const shown = oneLine(target.host, 60);
  if (target.protocol === 'http:' && callback.protocol === 'https:') {
    return fail(`${where} redirects to http at ${shown}, where a token could be read in transit.`, 'Redirect to https.');
  }
  if (target.host === callback.host || target.origin === service) return pass(`${where} redirects a visitor without a token (${status}).`);
  const fix = `Serve the callback at ${callback.host} itself, or use ${shown} in forward_url and check it with ${remedies.urlOption}.`;
  return fail(`${where} redirects to another host, ${shown}, together with the token.`, fix);
}

/**
 * Returns the finding for the response to a made-up token without state, which should change nothing. A page that accepts it and
 * sets a cookie that a visitor without a token does not get may have signed the visitor in.
 * @param plain the response without a token
 */
export function evaluateForgedToken(plain: PageResponse, forged: PageResponse): Finding {
  const { status } = forged;
  if (status >= 500) {
    const fix = "See the website's log, and check that its server can reach the service.";
    return fail(`The callback fails with ${status} on a made-up token.`, fix);
  }
  if (status >= 400) return pass(`A made-up token is refused (${status}).`);
  const known = plain.status >= 400 ? new Set() : new Set(namesOfSetCookies(plain));
  const added = namesOfSetCookies(forged).filter((name) => !known.has(name));
  if (added.length === 0 && status < 300) {
    return skip(
      `A made-up token gets a page (${status}) and no cookie: it is unclear whether it was refused.`,
      'Let the callback refuse it with 400.',
    );
  }
  if (added.length === 0) return pass(`A made-up token gets no cookie (${status}).`);
  return fail(
    `A made-up token without state gets ${status} and the cookie ${oneLine(added.join(', '), 60)}: it may have signed a visitor in.`,
    'Check that the callback compares state, calls /api/verify-token with its domain, and continues only if valid is true.',
  );
}

/** Returns the names of the cookies that a response sets, without those that it deletes. */
function namesOfSetCookies({ setCookies }: PageResponse): string[] {
  return setCookies.flatMap((cookie) => {
    const [pair, ...attributes] = cookie.split(';').map((part) => part.trim());
    const separator = pair.indexOf('=');
    const isDeleted = attributes.some((attribute) => {
      const [name, value = ''] = attribute.split('=');
      if (/^max-age$/i.test(name)) return Number(value) <= 0;
      return /^expires$/i.test(name) && Date.parse(value) < Date.now();
    });
    return separator > 0 && pair.length > separator + 1 && !isDeleted ? [pair.slice(0, separator)] : [];
  });
}
