import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { languageOf } from '../../contract/languages.ts';
import { EMAIL_MESSAGE, normalEmail } from '../../contract/rules.ts';
import { openApi } from '../api.ts';
import { type Attempts, type Opened, openAttempts } from '../attempts.ts';
import { openBrowser } from '../browser.ts';
import { type CodeField, openCodeField } from '../code-field.ts';
import type { Context } from '../context.ts';
import { CommandError, cancelled, describeFailure, EXIT, type ExitCode, usageError } from '../exit.ts';
import { type Loopback, openLoopback } from '../loopback.ts';
import { askText } from '../prompts.ts';
import { endSession } from '../session.ts';

/** So many seconds after a mail an empty Enter asks for another one, and `r` for a third. */
const PATIENCE_SECONDS = 30;
const KEYS = 'Enter sends the code, r asks for a new mail, Esc cancels.';

/** Signs in by a mailed link, opened on this machine, or by its code, typed here: whichever comes first. */
export async function login(context: Context, given: { email?: string; browser: boolean }): Promise<ExitCode> {
  const { terminal, settings, env, signal } = context;
  const { value: host, source } = await settings.host();
  const credentials = await context.credentials();
  const before = credentials.storedAt(host);
  if (before) terminal.note(`You are signed in at ${host} as ${before.email}. This sign-in replaces that one.`);
  const email = await addressOf(context, given.email);

  const loopback = await openLoopback(host);
  let field: CodeField | null = null;
  // News of a call goes above the field once there is one.
  const news = { ...terminal, detail: (text: string) => (field && terminal.verbose ? field.note(text) : terminal.detail(text)) };
  const client = openApi({ host, caller: null, terminal: news, signal });
  const language = languageOf(await settings.get('language'));
  const attempts = openAttempts(client, { email, language, redirectUri: loopback.redirectUri });
  const over = new AbortController();
  try {
    loopback.expect(await attempts.mail());
    await tellOfMail(context, { email, host, browser: given.browser });
    if (terminal.interactive) field = openField(context, attempts);
    const ways: Promise<Opened>[] = [loopback.arrival, expiry(attempts, over.signal), interruption(signal)];
    if (field) ways.push(field.cancelled, typedCode(field, attempts, loopback, over.signal));
    const opened = await Promise.race(ways);
    over.abort();
    field?.close();
    // Once alone: a second exchange would end what the first one opened.
    const credential = await attempts.exchange(opened);
    credentials.keep(host, credential);
    await loopback.tell('signed_in');
    loopback.close();
    if (before) await endSession(context, host, before);
    if (source === 'flag' && !(await settings.get('host'))) {
      await settings.set('host', host);
      terminal.note(`From here on, commands of the profile "${settings.profile}" speak to ${host}.`);
    }
    if (env.EMAILAUTH_TOKEN) terminal.note('EMAILAUTH_TOKEN is set and comes before this sign-in. Unset it to use the sign-in.');
    const { expiresAt } = credential;
    terminal.answer({ email: credential.email, host, expiresAt, source: 'credentials' }, `Signed in as ${credential.email} at ${host}.`);
    return EXIT.ok;
  } catch (error) {
    await loopback.tell('failed');
    throw error;
  } finally {
    over.abort();
    field?.close();
    loopback.close();
  }
}

async function addressOf({ terminal }: Context, given: string | undefined): Promise<string> {
  const typed =
    given ??
    (await askText(terminal, {
      message: 'Your e-mail address',
      flag: '--email <address>',
      placeholder: 'you@example.com',
      validate: (text) => (normalEmail(text) ? undefined : EMAIL_MESSAGE),
    }));
  const email = normalEmail(typed);
  if (!email) throw usageError(EMAIL_MESSAGE, 'Give one address, such as --email you@example.com.');
  return email;
}

async function tellOfMail(context: Context, sent: { email: string; host: string; browser: boolean }): Promise<void> {
  const { terminal, env, signal } = context;
  const inbox = await inboxOf(sent.host, signal);
  const opened = inbox && sent.browser && (await openBrowser(context, inbox));
  terminal.note(`A mail is on its way to ${sent.email}.`);
  if (inbox)
    terminal.note(opened ? `The inbox of local mode is open in your browser: ${inbox}` : `Read it in the inbox of local mode: ${inbox}`);
  if (!terminal.interactive) terminal.note('Open its link on this machine within ten minutes; this command waits for it.');
  else if (env.SSH_CONNECTION) terminal.note(`Type its six digits here. Its link works in a browser on ${hostname()} alone.`);
  else terminal.note('Open its link on this machine, or type its six digits here.');
}

/** The built-in inbox, which a service in local mode shows to its own machine alone. @returns null: there is none */
async function inboxOf(host: string, signal: AbortSignal): Promise<string | null> {
  const { protocol } = new URL(host);
  if (protocol !== 'http:') return null;
  const url = `${host}/dev/inbox`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(3000)]);
  const answer = await fetch(url, { method: 'HEAD', redirect: 'error', signal: limit }).catch(() => null);
  return answer?.status === 200 ? url : null;
}

function openField({ terminal, signal }: Context, attempts: Attempts): CodeField {
  return openCodeField({
    status: () => `Waiting for the link or its code, ${countdown(attempts.endsAt() - Date.now())} left`,
    keys: KEYS,
    mayAskAnew: () => patience(attempts) <= 0,
    style: terminal.style,
    signal,
  });
}

/** Takes codes and wishes for a new mail until a code is right. What goes wrong is told, and the link can still come. */
async function typedCode(field: CodeField, attempts: Attempts, loopback: Loopback, signal: AbortSignal): Promise<Opened> {
  let hasMore = false;
  for (;;) {
    const wish = await field.next();
    try {
      if (wish.kind === 'new_mail') {
        const wait = hasMore ? patience(attempts) : 0;
        if (wait > 0) {
          field.say(`A new mail went out a moment ago. The next one can be asked for in ${wait} seconds.`);
          continue;
        }
        loopback.expect(await attempts.mail());
        hasMore = true;
        field.say('A new mail is on its way. The older one works too.');
        continue;
      }
      if (attempts.triesLeft() > 0) {
        const opened = await attempts.enterCode(wish.digits, signal);
        if (opened) return opened;
      }
      field.say(wrongCode(attempts.triesLeft()));
    } catch (error) {
      const { message, hint } = describeFailure(error);
      field.say(`${message} ${hint}`);
    }
  }
}

/** Seconds until it is time to ask for another mail. */
function patience(attempts: Attempts): number {
  return PATIENCE_SECONDS - Math.floor((Date.now() - attempts.sentAt()) / 1000);
}

function wrongCode(triesLeft: number): string {
  if (triesLeft === 0) return 'Too many wrong codes: this mail takes no more. Open its link on this machine, or press r for a new mail.';
  const left = `That code is not right; ${triesLeft === 1 ? 'one try is' : `${triesLeft} tries are`} left.`;
  if (triesLeft > 2) return left;
  return `${left} Take the digits of the newest mail, asked for in this very window, or press r for a new mail.`;
}

/** Rejects once the newest mail has ended. */
async function expiry(attempts: Attempts, signal: AbortSignal): Promise<never> {
  for (let left = attempts.endsAt() - Date.now(); left > 0; left = attempts.endsAt() - Date.now()) await sleep(left, null, { signal });
  throw new CommandError(
    EXIT.failure,
    'mail_expired',
    'The mail has expired, and nobody was signed in.',
    'Run `emailauth login` once more.',
  );
}

function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(cancelled());
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** Minutes and seconds, such as 9:05. */
function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
