import type { Platform } from '../platform/platform.ts';
import { Inbox } from './inbox.ts';
import { inboxRouter } from './inbox-routes.ts';
import { Mailer } from './mailer.ts';
import { Outbox, type OutboxEvents } from './outbox.ts';

/**
 * Emails: the transport, the outbox and, without SMTP_URL, the built-in inbox.
 * @param events what follows when an email is written, refused or delayed; read at the first email
 */
export function createMail(platform: Platform, events: () => OutboxEvents) {
  const { config, log, headers } = platform;
  const inbox = config.smtpUrl ? null : new Inbox(config);
  const mailer = new Mailer({ ...config, log, deliver: inbox ? (message) => inbox.deliver(message) : undefined });
  const outbox = new Outbox({
    ...platform,
    mailer,
    secretsOf: (mail) => events().secretsOf(mail),
    onRefused: (mail) => events().onRefused(mail),
    onDelayed: (mail, reason) => events().onDelayed(mail, reason),
  });
  return {
    mailer,
    outbox,
    hasInbox: inbox !== null,
    routers: inbox ? [inboxRouter({ inbox, headers })] : [],
    start: () => outbox.start(),
    stop: () => outbox.stop(),
  };
}
