import { type Attack, check, hasOpened, type Returning, requireReturn } from './attack-sign-in.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, skip } from './check.ts';
import { madeUpToken, VERIFY } from './forged-token.ts';
import { startSignIn, stateOf } from './login.ts';
import { Visitor } from './visitor.ts';

const COMPARE =
  'Let the callback compare the state with the one in the cookie of this browser before anything else, and refuse it when either is missing.';

/** Attacks the callback with requests that must not open a session; each has a token of its own. */
export async function attackCallback(attack: Attack): Promise<CheckResult[]> {
  return [
    await check(attack, 'replay', 'Repeated callback', () => checkReplay(attack)),
    await check(attack, 'other_website', 'Token of another website', () => checkOtherWebsite(attack)),
    await check(attack, 'state_missing', 'Callback without state', () => checkMissingState(attack)),
    await check(attack, 'state_forged', 'Callback with a made-up state', () => checkForgedState(attack)),
    await check(attack, 'state_other_browser', 'Callback in another browser', () => checkOtherBrowser(attack)),
  ];
}

/** Calls the callback a second time, with the cookies from before the first, as someone who has copied them would. */
async function checkReplay(attack: Attack): Promise<Finding> {
  const { visitor, email, callback } = await requireReturn(attack);
  const copy = visitor.copy();
  const first = await visitor.get(callback);
  if (!(await hasOpened(attack, visitor, first, email))) return skip('The sign-in before it failed.', 'Check again.');
  const again = await copy.get(callback);
  if (await hasOpened(attack, copy, again, email)) return fail('The same callback signs in twice: its token is not verified.', VERIFY);
  return refused('The same callback is refused the second time', again.status, VERIFY);
}

async function checkOtherWebsite(attack: Attack): Promise<Finding> {
  const started = await startSignIn(attack.website, attack.options);
  if (!started) return skip('No sign-in could be started.');
  const { visitor, forwardUrl } = started;
  const token = await attack.inbox.tokenOfOtherWebsite();
  const callback = withToken(forwardUrl, token);
  const response = await visitor.get(callback);
  // The token belongs to no visitor of this website.
  const isOpen = attack.session?.page?.kind === 'personal' ? response.status < 400 : await hasOpened(attack, visitor, response, '');
  const fix =
    'Send `domain` with the host of this website to /api/verify-token, so that the service refuses tokens that another website received.';
  if (isOpen) return fail('A token of another website signs its visitor in here.', fix);
  return refused('A token of another website is refused', response.status, fix);
}

/** Leaves the state out: in the browser that started the sign-in, and in one that has no cookie either. */
async function checkMissingState(attack: Attack): Promise<Finding> {
  for (const hasCookies of [true, false]) {
    const { returning, states } = await returnWithState(attack);
    if (states.length === 0) return noState;
    const callback = new URL(returning.callback);
    for (const name of states) callback.searchParams.delete(name);
    const opened = await opens(attack, hasCookies ? returning.visitor : stranger(attack), callback, returning.email);
    if (opened.isOpen) return fail(`A callback without ${oneLine(states.join(', '), 40)} signs a visitor in.`, COMPARE);
    if (opened.status >= 500) return refused('', opened.status, COMPARE);
  }
  return pass('A callback without the state is refused.');
}

async function checkForgedState(attack: Attack): Promise<Finding> {
  const { returning, states } = await returnWithState(attack);
  if (states.length === 0) return noState;
  const callback = new URL(returning.callback);
  for (const name of states) callback.searchParams.set(name, madeUpToken());
  const { isOpen, status } = await opens(attack, returning.visitor, callback, returning.email);
  if (isOpen) return fail('A callback with a made-up state signs a visitor in.', COMPARE);
  return refused('A callback with a made-up state is refused', status, COMPARE);
}

/** Opens the callback in a browser that has started no sign-in, and in one that has started another. */
async function checkOtherBrowser(attack: Attack): Promise<Finding> {
  for (const hasStarted of [false, true]) {
    const { callback, email } = await requireReturn(attack);
    const other = hasStarted ? (await startSignIn(attack.website, attack.options))?.visitor : stranger(attack);
    if (!other) return skip('No sign-in could be started.');
    const { isOpen, status } = await opens(attack, other, callback, email);
    if (isOpen) {
      return fail(
        'A callback of one browser signs another one in: an attacker could sign visitors in to an account of the attacker.',
        COMPARE,
      );
    }
    if (status >= 500) return refused('', status, COMPARE);
  }
  return pass('A callback is refused in another browser.');
}

const noState = fail('forward_url contains no state.', COMPARE);

const stranger = ({ website, options }: Attack) => new Visitor(website.callback.origin, options);

/** Returns a visitor with a valid callback, and the names of the parameters of its state. */
async function returnWithState(attack: Attack): Promise<{ returning: Returning; states: string[] }> {
  const returning = await requireReturn(attack);
  const other = await startSignIn(attack.website, attack.options);
  return { returning, states: other ? stateOf(returning.started, other) : [] };
}

async function opens(attack: Attack, visitor: Visitor, callback: URL, email: string): Promise<{ isOpen: boolean; status: number }> {
  const response = await visitor.get(callback);
  return { isOpen: await hasOpened(attack, visitor, response, email), status: response.status };
}

function withToken(forwardUrl: URL, token: string): URL {
  const callback = new URL(forwardUrl);
  callback.searchParams.append('token', token);
  return callback;
}

/** Returns the finding for a request that opened no session: a callback that fails on it has not refused it. */
function refused(what: string, status: number, fix: string): Finding {
  if (status >= 500) return fail(`The callback fails with ${status} on this request.`, `See the website's log. ${fix}`);
  return pass(`${what} (${status}).`);
}
