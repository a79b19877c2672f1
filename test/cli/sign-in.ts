import type { Stage } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import { freshAddress } from '../support/sign-ins.ts';
import type { Home } from './command.ts';

/** Signs a home directory in at its EMAILAUTH_HOST by `emailauth login`. @returns the address */
export async function signInHome(
  home: Pick<Home, 'run'>,
  stage: Stage,
  email = freshAddress('dev'),
  flags: string[] = [],
): Promise<string> {
  const running = home.run(['login', '--email', email, '--no-input', ...flags]);
  // A login that fails sends no email.
  const mail = await Promise.race([stage.mailbox.waitFor(email), running]);
  if ('link' in mail) await openMailedLink(mail);
  const { exitCode, stderr } = await running;
  if (exitCode !== 0) throw new Error(`login ended with ${exitCode}:\n${stderr}`);
  return email;
}

/** Opens an emailed link as a browser of this machine: the page of the service redirects to the program. @returns the program's page */
export async function openMailedLink(mail: ReceivedMail): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(await redirectOf(mail));
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Returns the URL to which the page of an emailed link redirects. */
export async function redirectOf(mail: ReceivedMail): Promise<string> {
  const page = await (await fetch(mail.link)).text();
  const boot = JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(page)?.[1] ?? '{}');
  if (boot.link?.state !== 'native') throw new Error(`The page of ${mail.link} goes nowhere: ${JSON.stringify(boot.link)}`);
  return boot.link.redirectUrl;
}
