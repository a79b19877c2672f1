import type { pages } from '../../contract/pages.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';

const PAGES = {
  dashboard: '/dashboard',
  docs: '/webservices/email-auth',
  site: '/',
} as const satisfies Record<string, keyof typeof pages>;

export const open: CommandSpec = {
  usage: 'open [target]',
  group: 'This program',
  summary: 'open the dashboard, the documentation or the start page of the service in the browser',
  choices: { target: Object.keys(PAGES) },
  examples: ['open', 'open docs'],
  json: '{url,opened}',
  async run(context, [target = 'dashboard']) {
    const url = `${await context.host()}${PAGES[target as keyof typeof PAGES]}`;
    const opened = await openBrowser(context, url);
    context.terminal.result({ url, opened }, url);
    return EXIT.ok;
  },
};

/**
 * Opens an address in the person's browser.
 * @returns false where there is no browser to open: in scripts, CI, over SSH, and on a system without a desktop
 */
export async function openBrowser({ terminal, env }: Pick<Context, 'terminal' | 'env'>, url: string): Promise<boolean> {
  const isRemote = Boolean(env.SSH_CONNECTION || env.SSH_TTY);
  const hasDesktop = process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME);
  if (!terminal.interactive || isRemote || !hasDesktop) return false;
  const { default: openUrl } = await import('open');
  return openUrl(url).then(
    () => true,
    () => false,
  );
}
