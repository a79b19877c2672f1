import type { LanguageCode } from '../../contract/languages.ts';
import { normalHost } from '../../contract/rules.ts';

export type MailKind = 'sign_in' | 'app_sign_in' | 'portal_sign_in' | 'registered' | 'domain_proven' | 'domain_lost';

/** A mail that is owed: one row of the table `outbox`. */
export type Mail = {
  /** A UUID; for a mail that signs in, the attempt's. The Message-ID derives from it, so every retry sends the same mail. */
  id: string;
  kind: MailKind;
  /** In the normal form of contract/rules.ts. */
  recipient: string;
  language: LanguageCode;
  /**
   * `host` for sign_in and app_sign_in, `domain` for registered and domain_*: host names, the only text in a mail that a requester chose.
   * `fromName`, `logoUrl` for sign_in: what the site's owner chose, see brand.ts.
   */
  data: Record<string, string>;
};

/** The two ways in that a mail carries. */
export type Secrets = { link: string; code: string };

/**
 * How a try to hand a mail over ended. `temporary`: again later; with `connection`, the mail server could not be reached at
 * all. `refused`: for good (a reply 5yz, RFC 5321 §4.2.1). `not_tried`: no connection was free in time. `failed`: a fault of
 * this service's own, before the mail server saw the mail; again later.
 */
export type Outcome = 'sent' | 'not_tried' | { temporary: string; connection: boolean } | { refused: string } | { failed: string };

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * @returns a host name as a mail shows it: A-labels (RFC 5890) in lower case
 * @throws Error for anything that is no host name, since no other text of a requester's may stand in a mail
 */
export function shownHost(host: string): string {
  if (HOST.test(host)) return host;
  const name = normalHost(host);
  if (name) return name;
  throw new Error('A mail names something that is no host name');
}
