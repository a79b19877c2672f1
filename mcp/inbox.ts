import type { Output } from '../contract/routes.ts';
import type { McpContext } from './context.ts';

/** Where mails are read that stay on the machine of the service. @returns undefined when they leave it */
export const inboxAt = (host: string, { mail }: Output<'about'>): string | undefined => (mail.delivered ? undefined : `${host}/dev/inbox`);

/** The same of a mail that was asked for. @returns undefined also when the service does not tell: what was asked for is done all the same */
export async function inboxOf({ client, host }: Pick<McpContext, 'client' | 'host'>, signal: AbortSignal): Promise<string | undefined> {
  const about = await client.about({}, { signal }).catch(() => null);
  return about ? inboxAt(host, about) : undefined;
}
