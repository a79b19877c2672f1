import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { anyEntered } from '../../contract/entered.ts';
import type { CodeField } from '../code-field.ts';
import type { CommandSpec, Context, Flags } from '../command.ts';
import { CommandError, cancelled, describeFailure, EXIT, usageError } from '../exit.ts';
import type { Attempts, Authorization } from '../login-attempts.ts';
import type { Loopback } from '../loopback.ts';
import { dayOf, minuteOf, type Terminal } from '../terminal.ts';
import { openBrowser } from './program.ts';

/** From this many seconds after an email, an empty Enter requests another one, and `r` a third. */
const RESEND_SECONDS = 30;
const CODE_FLAG = `--code <${anyEntered('unit')}>`;
const KEYS = 'Enter sends the code, r requests a new email, Esc cancels.';

const login: CommandSpec = {
  usage: 'login',
  needs: 'service',
  group: 'Sign-in',
  summary: 'sign in with an emailed link or its code',
  about: `Emails you a link. Open it on this machine, or type the ${anyEntered('size')} of the email here: whichever comes first signs you in. Works over SSH and without a browser. Without a terminal it needs --email, and reads the code as a line of stdin. A program that cannot wait uses --start, and later --login with --code.`,
  flags: {
    '--email <address>': 'your address',
    '--no-browser': 'do not open the inbox of local mode',
    '--start': 'only request the email, and print the id of the login',
    '--login <id>': 'complete a login of --start on this machine, within ten minutes',
    [CODE_FLAG]: `the ${anyEntered('size')} of its email; without it, or with -, they are read from stdin`,
  },
  examples: [
    'login',
    'login --email you@example.com',
    'login --host https://auth.example.com',
    'login --start --email you@example.com --json',
    'login --login q0r7LxUOTgaPq3uQn1v4mA --code 123456',
  ],
  json: '{email,host,expiresAt,source}; with --start {loginId,expiresAt,inbox?}',
  exits: { 5: 'the login of --login is unknown, was used or has expired', 10: 'the code is wrong' },
  run: runLogin,
};

async function runLogin(context: Context, _: unknown, { email, browser, start = false, login: loginId, code }: Flags): Promise<number> {
  if (start && (loginId ?? code) !== undefined)
    throw usageError('--start takes neither --login nor --code.', `Run it first, then \`emailauth login --login <id> ${CODE_FLAG}\`.`);
  if (code !== undefined && loginId === undefined)
    throw usageError('--code needs --login <id>.', '`emailauth login --start` prints the id.');
  if (loginId !== undefined && email !== undefined) throw usageError('--login takes no --email.', 'The login has its address.');
  if (!start && loginId === undefined) return signIn(context, { email, opensBrowser: browser !== false });
  const { completeLogin, startLogin } = await import('../login-steps.ts');
  return loginId === undefined ? startLogin(context, email) : completeLogin(context, loginId, code);
}

async function signIn(context: Context, options: { email?: string; opensBrowser: boolean }): Promise<number> {
  const { terminal, settings, signal } = context;
  const [{ openApi }, { Attempts, readAddress, reportSignIn }, { CodeField }, { openLoopback }, { languageOf }] = await Promise.all([
    import('../api.ts'),
    import('../login-attempts.ts'),
    import('../code-field.ts'),
    import('../loopback.ts'),
    import('../../contract/languages.ts'),
  ]);
  const { value: host, source } = await settings.host();
  const credentials = await context.credentials();
  credentials.requireWritable();
  const previous = credentials.storedAt(host);
  if (previous) terminal.note(`You are signed in at ${host} as ${previous.email}. The new sign-in replaces that one.`);
  const email = await readAddress(context, options.email);

  const loopback = await openLoopback(host);
  let field: CodeField | null = null;
  // While the field is on the screen, details of calls are printed above it.
  const detail = (text: string) => (field && terminal.verbose ? field.note(text) : terminal.detail(text));
  const client = openApi({ host, env: context.env, caller: null, terminal: { ...terminal, detail }, signal });
  const language = languageOf(await settings.get('language'));
  const attempts = new Attempts(client, { email, language, redirectUri: loopback.redirectUri });
  const done = new AbortController();
  try {
    loopback.expect(await attempts.requestEmail());
    await announceEmail(context, { email, host, attempt: attempts.saved()[0].id, opensBrowser: options.opensBrowser });
    if (terminal.interactive) field = new CodeField(fieldOptions(context, attempts));
    const results: Promise<Authorization>[] = [loopback.authorization, rejectAtExpiry(attempts, done.signal), rejectAtAbort(signal)];
    if (field) results.push(field.cancelled, readCode(field, attempts, loopback, done.signal));
    else results.push(readCodeLines(terminal, attempts, done.signal));
    const authorization = await Promise.race(results);
    done.abort();
    field?.close();
    const credential = await attempts.exchange(authorization);
    credentials.store(host, credential);
    await loopback.respond('signed_in');
    loopback.close();
    return await reportSignIn(context, { host, credential, previous, isHostFromFlag: source === 'flag' });
  } catch (error) {
    await loopback.respond('failed');
    throw error;
  } finally {
    done.abort();
    field?.close();
    loopback.close();
  }
}

async function announceEmail(
  context: Context,
  sent: { email: string; host: string; attempt: string; opensBrowser: boolean },
): Promise<void> {
  const { terminal, env, signal } = context;
  const { findInbox, whereToRead } = await import('../login-attempts.ts');
  const inbox = await findInbox(sent.host, signal);
  const opened = inbox && sent.opensBrowser && (await openBrowser(context, inbox));
  terminal.note(`An email is on its way to ${sent.email}.`);
  const where = opened ? `The inbox of local mode is open in your browser: ${inbox}` : await whereToRead(inbox, sent.email);
  if (where) terminal.note(where);
  if (!terminal.interactive)
    terminal.note(
      `Open its link on this machine within ten minutes, or write its ${anyEntered('size')} to stdin; this command waits for either.`,
    );
  else if (env.SSH_CONNECTION) terminal.note(`Type its ${anyEntered('size')} here. Its link only works in a browser on ${hostname()}.`);
  else {
    terminal.note(`Open its link on this machine, or type its ${anyEntered('size')} here.`);
    terminal.note(`With a passkey of this address: ${sent.host}/auth?attempt=${sent.attempt}`);
  }
}

function fieldOptions({ terminal }: Context, attempts: Attempts) {
  return {
    status: () => `Waiting for the link or its code, ${formatCountdown(attempts.expiresAt - Date.now())} left`,
    keys: KEYS,
    enterRequestsEmail: () => secondsToResend(attempts) <= 0,
    terminal,
  };
}

/** Handles codes and requests for a new email until a code is right. Errors are shown, and the link can still be opened. */
async function readCode(field: CodeField, attempts: Attempts, loopback: Loopback, signal: AbortSignal): Promise<Authorization> {
  let hasResent = false;
  for (;;) {
    const input = await field.next();
    try {
      if (input.kind === 'code') {
        const authorization = attempts.triesLeft > 0 ? await attempts.enterCode(input.value, signal) : null;
        if (authorization) return authorization;
        field.showMessage(describeWrongCode(attempts, 'press r for a new email'));
        continue;
      }
      const wait = hasResent ? secondsToResend(attempts) : 0;
      if (wait > 0) {
        field.showMessage(`A new email was sent a moment ago. You can request the next one in ${wait} seconds.`);
        continue;
      }
      loopback.expect(await attempts.requestEmail());
      hasResent = true;
      field.showMessage('A new email is on its way. The older one still works.');
    } catch (error) {
      const { message, hint } = describeFailure(error);
      field.showMessage(`${message} ${hint}`);
    }
  }
}

/** Tries the lines of stdin as codes until one is right. Stays pending after the last line: the link can still be opened. */
async function readCodeLines(terminal: Terminal, attempts: Attempts, signal: AbortSignal): Promise<Authorization> {
  const { enteredFault, readEntered } = await import('../../contract/entered.ts');
  for await (const line of terminal.readLines(signal)) {
    if (line.trim() === '') continue;
    const read = readEntered(line);
    if (read.value === null) {
      terminal.note(enteredFault(read));
      continue;
    }
    try {
      const authorization = attempts.triesLeft > 0 ? await attempts.enterCode(read.value, signal) : null;
      if (authorization) return authorization;
      terminal.note(describeWrongCode(attempts, 'run `emailauth login` again'));
    } catch (error) {
      const { message, hint } = describeFailure(error);
      terminal.note(`${message} ${hint}`);
    }
  }
  return new Promise(() => {});
}

/** Returns the seconds until another email may be requested. */
function secondsToResend(attempts: Attempts): number {
  return RESEND_SECONDS - Math.floor((Date.now() - attempts.sentAt) / 1000);
}

/** @param again how to get another email */
function describeWrongCode({ triesLeft, wrongCodeMessage }: Attempts, again: string): string {
  if (triesLeft === 0)
    return `Too many wrong codes: this email can no longer be used with a code. Open its link on this machine, or ${again}.`;
  if (triesLeft > 2) return wrongCodeMessage;
  return `${wrongCodeMessage} Use the ${anyEntered('unit')} of the newest email that this command requested, or ${again}.`;
}

/** Rejects when the newest email has expired. */
async function rejectAtExpiry(attempts: Attempts, signal: AbortSignal): Promise<never> {
  for (let left = attempts.expiresAt - Date.now(); left > 0; left = attempts.expiresAt - Date.now()) await sleep(left, null, { signal });
  const message = 'The email has expired, and you are not signed in.';
  throw new CommandError(EXIT.failure, 'mail_expired', message, 'Run `emailauth login` again.');
}

function rejectAtAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(cancelled());
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** Returns minutes and seconds, such as 9:05. */
function formatCountdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const logout: CommandSpec = {
  usage: 'logout',
  group: 'Sign-in',
  summary: 'end the sign-in and remove it from this machine',
  about: 'When the service cannot be reached, the sign-in is removed from this machine only; it expires at the service.',
  flags: { '--all': 'at every service that this profile is signed in to' },
  examples: ['logout', 'logout --all'],
  json: '{signedOut:[{host,email,ended}]}',
  async run(context, _, { all = false }) {
    const { terminal, env } = context;
    const { endSession } = await import('../api.ts');
    const credentials = await context.credentials();
    const hosts = all ? credentials.hosts() : [await context.host()];
    const signedOut: { host: string; email: string; ended: boolean }[] = [];
    for (const host of hosts) {
      const stored = credentials.storedAt(host);
      if (!stored) continue;
      const ended = await endSession(context, host, stored);
      // Interrupted, it can be repeated: the session may still be valid.
      if (!ended) context.signal.throwIfAborted();
      credentials.remove(host);
      signedOut.push({ host, email: stored.email, ended });
      if (!ended) {
        terminal.note(`${host} could not be reached. The session there expires on ${dayOf(stored.expiresAt)} at the latest;`);
        terminal.note('to end it earlier, sign this device out in the dashboard, under Settings.');
      }
    }
    if (env.EMAILAUTH_TOKEN) terminal.note('EMAILAUTH_TOKEN is set and stays in use: unset it to sign out completely.');
    const lines = signedOut.map(({ host, email }) => `Signed out ${email} at ${host}.`);
    const none = all ? 'You are not signed in at any service.' : `You are not signed in at ${hosts[0]}.`;
    terminal.result({ signedOut }, lines.join('\n') || none);
    return EXIT.ok;
  },
};

const whoami: CommandSpec = {
  usage: 'whoami',
  needs: 'sign-in',
  group: 'Sign-in',
  summary: 'who is signed in, where, from which source and until when',
  examples: ['whoami', 'whoami --json'],
  json: '{email,host,expiresAt,source}',
  async run({ terminal, signedIn }) {
    const { client, caller, host } = await signedIn();
    // A request to the service, so that a sign-in that has ended is reported.
    const { email } = await client.me({});
    const expiresAt = caller.source === 'credentials' ? caller.expiresAt : null;
    const origin = expiresAt ? `by \`emailauth login\`, until ${minuteOf(expiresAt)} UTC` : 'by EMAILAUTH_TOKEN';
    terminal.result({ email, host, expiresAt, source: caller.source }, `${email} at ${host}\n${origin}`);
    return EXIT.ok;
  },
};

const token: CommandSpec = {
  usage: 'token',
  needs: 'sign-in',
  group: 'Sign-in',
  summary: 'print an access token for scripts',
  about:
    'It gives access to everything in your account. The service is asked whether it still works, so that a script does not get a token that has ended. For long-term use, create an API key in the dashboard.',
  examples: ['token', 'curl -H "Authorization: Bearer $(emailauth token)" https://auth.example.com/api/websites'],
  json: '{token,host,expiresAt,source}',
  async run({ terminal, signedIn }) {
    const { client, caller, host } = await signedIn();
    await client.me({});
    const expiresAt = caller.source === 'credentials' ? caller.expiresAt : null;
    if (terminal.fullScreen) terminal.note('Keep this token secret: it gives access to everything in your account.');
    terminal.result({ token: caller.token, host, expiresAt, source: caller.source }, caller.token);
    return EXIT.ok;
  },
};

export const loginCommands: readonly CommandSpec[] = [login, logout, whoami, token];
