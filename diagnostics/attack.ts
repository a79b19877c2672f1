import { attackCallback } from './attack-callback.ts';
import { checkLogout, checkReturnPath, checkSessionCookie } from './attack-session.ts';
import { type Attack, check, evaluateSignIn, type SignedIn, signInVisitor } from './attack-sign-in.ts';
import { checkVisible } from './callback.ts';
import { type CheckResult, type Finding, fail, oneLine, pass } from './check.ts';
import type { LocalInbox } from './inbox.ts';
import { redirectOf } from './visitor.ts';
import type { CheckOptions, Target } from './website.ts';

/** Time limit of one check: a development server compiles a page when it is first requested. */
const TIMEOUT_MS = 90_000;
/**
 * Signs visitors in at a running website through the inbox of a local service, and attacks its callback, session and logout.
 * Creates visitors at the website, and registers `other-website.example` at the service.
 * @param target with its callback
 */
export async function attackWebsite(target: Target, service: string, inbox: LocalInbox, given: CheckOptions): Promise<CheckResult[]> {
  const options: CheckOptions = { ...given, timeoutMs: TIMEOUT_MS };
  const visible = await checkVisible(target, service, options);
  const { callback } = target;
  if (!callback || visible.some(({ id, ok }) => (id === 'callback' || id === 'login') && ok !== true)) {
    const reason = fail('No visitor could be signed in, so nothing else was checked.', 'Fix what is above, and check again.');
    return [...visible, { id: 'sign_in', name: 'Sign-in', ...reason }];
  }
  const attack: Attack = { website: { ...target, callback, service }, inbox, options, session: null };
  let signedIn: SignedIn | null = null;
  const signIn = await check(attack, 'sign_in', 'Sign-in', async () => {
    signedIn = await signInVisitor(attack);
    return evaluateSignIn(attack, signedIn);
  });
  const visitor = signedIn as SignedIn | null;
  if (!visitor || signIn.ok !== true) return [...visible, signIn];
  const cleanUrl = await check(attack, 'clean_url', 'URL after the sign-in', async () => evaluateUrl(visitor));
  const cookie = await check(attack, 'session_cookie', 'Cookie of the session', () => checkSessionCookie(attack, visitor));
  const attacks = await attackCallback(attack);
  const returnPath = await check(attack, 'return_path', 'Redirect after the sign-in', () => checkReturnPath(attack));
  const logout = await check(attack, 'logout', 'Logout', () => checkLogout(attack, visitor));
  return [...visible, signIn, cleanUrl, cookie, ...attacks, returnPath, logout];
}

/** A URL with a token stays in the history of the browser, and goes to other websites as Referer. */
function evaluateUrl({ response, callback }: SignedIn): Finding {
  const target = redirectOf(response, callback);
  const fix = 'Redirect the visitor to a page of the website without token and state.';
  if (!target) return fail(`The callback responds with ${response.status} at the URL that contains the token.`, fix);
  const token = callback.searchParams.get('token') ?? '';
  if (target.href.includes(token)) return fail('The URL after the callback still contains the token.', fix);
  return pass(`The callback redirects to ${oneLine(target.pathname, 60)}, without the token.`);
}
