import type { Context } from './context.ts';

/**
 * Opens an address in the person's browser.
 * @returns false where nobody sits, or sits elsewhere: scripts, CI, SSH, a system without a desktop
 */
export async function openBrowser({ terminal, env }: Pick<Context, 'terminal' | 'env'>, url: string): Promise<boolean> {
  const isRemote = Boolean(env.SSH_CONNECTION || env.SSH_TTY);
  const hasDesktop = process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME);
  if (!terminal.interactive || isRemote || !hasDesktop) return false;
  const { default: open } = await import('open');
  return open(url).then(
    () => true,
    () => false,
  );
}
