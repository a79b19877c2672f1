import type { pages } from '../../contract/pages.ts';
import { openBrowser } from '../browser.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

const PAGES = {
  dashboard: '/dashboard',
  docs: '/webservices/email-auth',
  site: '/',
} as const satisfies Record<string, keyof typeof pages>;

/** Opens a page of the service in the browser where there is one; its address is printed anyway. */
export async function open(context: Context, target: string = 'dashboard'): Promise<ExitCode> {
  const url = `${await context.host()}${PAGES[target as keyof typeof PAGES]}`;
  const opened = await openBrowser(context, url);
  context.terminal.answer({ url, opened }, url);
  return EXIT.ok;
}
