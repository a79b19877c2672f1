import type { McpContext } from './context.ts';

/**
 * Where a mail that was asked for is read, when mails stay on the machine of the service.
 * @returns undefined when they leave it. Also when the service does not tell: what was asked for is done all the same
 */
export async function inboxOf({ client, host }: Pick<McpContext, 'client' | 'host'>, signal: AbortSignal): Promise<string | undefined> {
  const about = await client.about({}, { signal }).catch(() => null);
  return about && !about.mail.delivered ? `${host}/dev/inbox` : undefined;
}
