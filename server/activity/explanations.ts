import type { Output } from '../../contract/calls.ts';
import { METHODS, type Method } from '../../contract/methods.ts';
import { refusalOf, remedyFor } from '../developers/refusals.ts';

type Level = Output<'websiteEvents'>['events'][number]['level'];

/** What happened, and what to do about it; `fix` is null when there is nothing to do. */
type Explanation = { level: Level; text: string; fix: string | null };

/** Steps that are in the audit log. */
const AUDITED = {
  requested: info('A sign-in email was requested.'),
  ...ofMethods(({ event }) => `${event.text}, and went back to the website with a token.`),
  address_proven: info(
    `${METHODS.link.event.text}. Only a passkey is accepted, so the page asks the visitor to add one; there is no token yet.`,
  ),
  exchanged: { level: 'success', text: 'The client exchanged its code for the tokens: the visitor is signed in.', fix: null },
  verified: { level: 'success', text: 'The website verified the token: the visitor is signed in.', fix: null },
  callback_checked: info('The callback of the website was checked. Set up has the result.'),
  domain_proven: { level: 'success', text: 'The domain was verified.', fix: null },
} as const;

/** The same with OpenID Connect, where the client gets a code. */
const OPENID: Readonly<Record<string, Explanation>> = {
  requested: info('A sign-in email was requested through OpenID Connect.'),
  ...ofMethods(({ event, sendsMail }) => `${event.text}${sendsMail ? ' of the email' : ''}, and the sign-in by OpenID Connect went on.`),
};

/** Steps that are recorded as events of a website, by kind or by kind and reason. */
const RECORDED = {
  mail_accepted: info('The mail server accepted the email.'),
  mail_delayed: problem(
    'The mail server did not accept the email yet; the service tries again for ten minutes.',
    'Nothing, if the email is accepted soon. Otherwise let the operator check the mail server and its log.',
  ),
  'mail_delayed login': problem(
    'The mail server does not accept the user name and password of the service, so no email can be sent.',
    'Let the operator correct SMTP_URL. The service tries again within minutes.',
  ),
  mail_refused: problem(
    'The mail server refused the email for good.',
    'Check that the address exists. If others are refused too, `emailauth doctor` checks SPF, DKIM and DMARC of the sender.',
  ),
  mail_expired: problem(
    'The email could not be sent within ten minutes and was deleted.',
    'The visitor can request a new one. Let the operator check that the service reaches its mail server.',
  ),
  'mail_expired unconfirmed': problem(
    'The mail server got the email and did not confirm it within ten minutes. It may have been delivered.',
    'The visitor can request a new one. Let the operator check the log of the mail server.',
  ),
  wrong_browser: problem(
    'The link was opened in a browser that did not request the email, or by a mail scanner. It was not used up.',
    'The visitor types the code where the sign-in began, or enters the address on the page of the link, if it asks for it.',
  ),
  'link_refused used': problem(
    'The link was opened again after it had been used.',
    'Nothing, if the visitor is signed in. Otherwise begin again on the website.',
  ),
  'link_refused expired': problem('The link was opened after it had expired.', 'Begin again on the website, and use the newest email.'),
  'link_refused gone': problem('The link belongs to a registration of the website that no longer exists.', 'Begin again on the website.'),
  wrong_address: problem(
    'A wrong address was entered for a link that was opened in another browser.',
    'Enter the address that received the email; after five wrong ones, request a new email.',
  ),
  wrong_code: problem('A wrong code was entered.', 'Use the code of the newest email; after five wrong ones, request a new email.'),
  'token_refused used': problem(
    'The token was rejected: it had been used up before.',
    'Verify each token once: open your own session in the callback, then redirect to an address without the token. For retries send Idempotency-Key.',
  ),
  'token_refused expired': problem(
    'The token was rejected: the sign-in was more than an hour ago.',
    'Verify the token in the callback, as soon as the visitor arrives.',
  ),
  'token_refused unknown': problem(
    'The token was rejected: this service did not issue it, or the registration of the website has changed since.',
    'Pass the `token` parameter of the callback unchanged, to the service that issued it. A forged token is rejected like this, too.',
  ),
  'token_refused other_domain': problem(
    'The token was rejected: it is for another host.',
    'Send the host of the forward_url as `domain`, and an API key of the account that owns the website, if any.',
  ),
  'request_refused network': problem(
    'No email was sent: too many were requested from one network.',
    'Wait up to an hour, or use a passkey or a remembered account. Behind a proxy, the operator sets TRUST_PROXY, so that visitors do not share one address.',
  ),
  'request_refused pair': problem(
    'No email was sent: too many were requested for one address.',
    'Use the newest email, or wait 15 minutes. While you test, use several addresses.',
  ),
  'request_refused mailbox': problem(
    'No email was sent: too many went to this mailbox within an hour.',
    'Wait up to an hour, or open one of its emails in this browser and confirm the address.',
  ),
  'request_refused probation': problem(
    'No email was sent: the website has reached the number of visitors that it may have before its owner signs in.',
    'Sign in once with the linked address of the website, or verify the domain.',
  ),
  'request_refused forward_url': problem(
    'A sign-in began with a forward_url that cannot be used.',
    'Give an absolute https URL on the registered domain: without user info, port or a `token` parameter.',
  ),
  client_refused: problem('A request of the client of OpenID Connect was rejected.', 'Compare it with the documentation.'),
} as const satisfies Record<string, Explanation>;

const KNOWN: Readonly<Record<string, Explanation>> = { ...AUDITED, ...RECORDED };

/** The kind of a step that is recorded as an event of a website. */
export type EventKind = keyof typeof RECORDED extends infer Key ? (Key extends `${infer Kind} ${string}` ? Kind : Key) : never;

/** The kinds of these steps, which are their actions in the activity log. */
export const RECORDED_KINDS: readonly string[] = [...new Set(Object.keys(RECORDED).map((key) => key.split(' ')[0]))];

/**
 * Returns the explanation of an event.
 * @param reason a known one, the code with which a mail server replied, or what refusalReason returns
 */
export function explain(kind: string, reason: string | null, isOpenId = false): Explanation {
  if (kind === 'client_refused' && reason !== null) return explainRefusal(reason);
  const openId = isOpenId && (OPENID[`${kind} ${reason}`] ?? OPENID[kind]);
  if (openId) return openId;
  const exact = KNOWN[`${kind} ${reason}`];
  if (exact) return exact;
  const found = KNOWN[kind];
  if (!found) return { level: 'info', text: `${kind.replaceAll('_', ' ')}.`, fix: null };
  if (reason === null) return found;
  return { ...found, text: `${found.text.slice(0, -1)} (${reason === 'connection' ? 'it could not be reached' : reason}).` };
}

/** The kinds of which some events are problems. */
export const PROBLEM_KINDS: readonly string[] = [
  ...new Set(Object.entries(KNOWN).flatMap(([key, { level }]) => (level === 'problem' ? [key.split(' ')[0]] : []))),
];

function explainRefusal(reason: string): Explanation {
  const { error, description } = refusalOf(reason);
  const text = `OpenID Connect: a request of the client was rejected with ${error}${description && ` (${description})`}.`;
  return problem(text, remedyFor({ error, description }));
}

/** Returns explanations by the kind, or the kind and reason, of the event of each method. */
function ofMethods(textOf: (row: (typeof METHODS)[Method]) => string): Record<string, Explanation> {
  return Object.fromEntries(
    Object.values(METHODS).map((row) => [[row.event.kind, row.event.reason].filter(Boolean).join(' '), info(textOf(row))]),
  );
}

function info(text: string): Explanation {
  return { level: 'info', text, fix: null };
}

function problem(text: string, fix: string): Explanation {
  return { level: 'problem', text, fix };
}
