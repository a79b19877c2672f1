import { anyEntered } from './entered.ts';
import { MAIL_BLOCK_FACTOR, RESERVED_MAILS, SPARE_WRONG_CODES } from './limits.ts';

const CODES = `${anyEntered('adjective')} codes`;

/** Emails that one network address may request in an hour, unless MAILS_PER_NETWORK is set. */
const MAILS_FROM_NETWORK = 30;

const MANY_FROM_NETWORK =
  'There are many sign-ins from your network, so no email was sent. Sign in with a passkey or a remembered account, or wait a little.';
const WRONG_CODES = 'Too many wrong codes. Use the link in the email.';

/**
 * Rate limits: `points` requests within `duration` seconds, what is counted, as the documentation says it, and what a person reads whom
 * the limit refuses. A service in local mode, where no email leaves the machine, allows a hundred times as many.
 */
export const RATE_LIMITS = {
  mails_to_mailbox_from_network: {
    points: 3,
    duration: 900,
    description: 'emails to one mailbox from one network address',
    message: 'Too many sign-in emails to this address. Please use the newest one, or wait a little.',
  },
  mails_to_mailbox: {
    points: 10,
    duration: 3600,
    description: `emails to one mailbox, the last ${RESERVED_MAILS} of them one per network address; \`+tag\`, case and the dots of Gmail are ignored`,
    message: 'Too many sign-in emails were sent to this mailbox. Please wait a little.',
  },
  mails_from_network: {
    points: MAILS_FROM_NETWORK,
    duration: 3600,
    description: 'emails from one network address, IPv6 by /64; the operator may change the number',
    message: MANY_FROM_NETWORK,
  },
  mails_from_block: {
    points: MAIL_BLOCK_FACTOR * MAILS_FROM_NETWORK,
    duration: 3600,
    description:
      'emails from one IPv6 /48 or IPv4 /24, as many again being reserved for the first email of each network address in it; known browsers do not count',
    message: MANY_FROM_NETWORK,
  },
  registrations: {
    points: 10,
    duration: 3600,
    description: 'registrations from one network address, or registrations and changes of a domain by one account',
    message: 'Too many registrations from your network. Please wait a little.',
  },
  wrong_codes: {
    points: 20,
    duration: 3600,
    description: `wrong ${CODES} from one network address; IPv6 by /48`,
    message: WRONG_CODES,
  },
  wrong_codes_total: {
    points: 1000,
    duration: 3600,
    description: `wrong ${CODES} in total; above it, ${SPARE_WRONG_CODES} more from networks that sent none, and links still work`,
    message: WRONG_CODES,
  },
  wrong_codes_mailbox: {
    points: 30,
    duration: 86_400,
    description: `wrong ${CODES} for one mailbox; above it, browsers that it does not know may try the code of each email once, until a sign-in`,
  },
  failed_verify: {
    points: 60,
    duration: 60,
    description: 'invalid tokens from one network address',
    message: 'Too many invalid tokens. Please wait a minute.',
  },
  failed_passkeys: {
    points: 60,
    duration: 60,
    description: 'rejected passkeys from one network address',
    message: 'Too many rejected passkeys from your network. Please wait a minute, or sign in by email.',
  },
  failed_email_verifications: {
    points: 30,
    duration: 3600,
    description:
      'tokens of the Email Verification Protocol from one network address that verify no address; above it, emails are sent instead',
    message: 'Too many rejected tokens from your network. Please sign in by email.',
  },
  wrong_user_codes: {
    points: 20,
    duration: 3600,
    description: 'wrong codes of devices from one network address; IPv6 by /48',
    message: 'Too many wrong codes from your network. Please wait an hour, or sign in on the device in another way.',
  },
  rejected_tokens: {
    points: 60,
    duration: 60,
    description: 'rejected requests at the OAuth token, introspection and revocation endpoints from one network address',
    message: 'Too many rejected requests about tokens from your network. Please wait a minute.',
  },
  authorization_requests: {
    points: 300,
    duration: 60,
    description: 'OAuth authorization, device and sign-out requests from one network address, counted by each process',
    message: 'Too many authorization requests from your network. Please wait a little.',
  },
  invitations: {
    points: 20,
    duration: 86_400,
    description: 'invitations to manage websites, sent by one account',
    message: 'Too many invitations today. Please wait until tomorrow.',
  },
  domain_proofs: {
    points: 30,
    duration: 3600,
    description: 'checks of domain proofs by one account',
    message: 'Too many checks of a domain proof. Please wait a little.',
  },
  domain_claims: {
    points: 60,
    duration: 3600,
    description: 'new domains for which one account requests a proof',
    message: 'Too many requests for a domain proof. Please wait a little.',
  },
  site_checks: {
    points: 30,
    duration: 3600,
    description: "checks of one account's websites by the service's MCP server, and of callbacks whose domain is not verified",
    message: 'Too many checks of your websites. Please wait a little.',
  },
  callback_checks: {
    points: 5,
    duration: 60,
    description: 'checks of callbacks of websites by one account',
    message: 'Too many checks of your callback. Please wait a minute.',
  },
  client_registrations: {
    points: 20,
    duration: 3600,
    description: 'OAuth clients that register themselves from one network address',
    message: 'Too many client registrations from your network. Please wait a little.',
  },
  client_documents: {
    points: 60,
    duration: 3600,
    description: 'OAuth clients whose metadata document is fetched because of one network address',
    message: 'Too many new clients from your network. Please wait a little.',
  },
  uploads: {
    points: 60,
    duration: 3600,
    description: 'icons uploaded by one account',
    message: 'Too many icon uploads. Please wait a little.',
  },
  logo_checks: {
    points: 60,
    duration: 3600,
    description: 'logo URLs that are loaded because one account saves them',
    message: 'Too many changes of a logo URL. Please wait a little.',
  },
  admin_password: {
    points: 5,
    duration: 900,
    description: 'wrong admin passwords from one network address',
    message: 'Too many wrong passwords from your network. Please wait a little, or run `emailauth admin unlock` on the server.',
  },
  admin_password_total: {
    points: 50,
    duration: 3600,
    description: 'wrong admin passwords in total; above it, each network address, IPv6 by /48, has one attempt in 15 minutes',
    message: 'Too many wrong passwords. Please wait a little.',
  },
  admin_password_spare: {
    points: 1,
    duration: 900,
    description: 'admin password attempts from one network address above that total',
    message: 'Too many wrong passwords. Please wait a little, or run `emailauth admin unlock` on the server.',
  },
  admin_password_spare_total: {
    points: 1000,
    duration: 3600,
    description: 'admin password attempts above that total, from all networks',
    message: 'Too many wrong passwords. Please wait a little, or run `emailauth admin unlock` on the server.',
  },
} as const;
