import { z } from 'zod';

export const User = z.object({ id: z.string(), email: z.string(), name: z.string().nullable() });

// A line of text that stands on pages and in mails: no line ends and no invisible or direction-changing characters.
const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most, `At most ${most} characters`)
    .regex(/^[^\p{Cc}\p{Cf}\u2028\u2029]*$/u, 'No line ends and no invisible characters');

export const Profile = z.object({ name: line(80) });
export const Organisation = z.object({ organisation: line(80) });

/** How the mails of an account's sites look. Empty: as the service's own. */
export const Branding = z.object({
  fromName: line(60).refine((name) => !/[@<>"\\,:;]/.test(name), 'A name without @ < > " \\ , : ;'),
  logoUrl: z
    .string()
    .trim()
    .max(500, 'At most 500 characters')
    .refine((text) => text === '' || isHttpsUrl(text), 'An address that begins with https://'),
});

/** All that the settings tab shows. */
export const Settings = z.object({
  email: z.string(),
  name: z.string(),
  organisation: z.string(),
  plan: z.literal('Free'),
  branding: Branding,
});

/** A browser or program in which the account is signed in, or which it is remembered by. */
export const Device = z.object({
  id: z.string().meta({ description: 'Public id of the device, no secret' }),
  label: z.string().meta({ description: 'Such as Firefox on Linux' }),
  current: z.boolean(),
  signedIn: z.boolean().meta({ description: 'False: only remembered, so that one click signs in' }),
  createdAt: z.string(),
  lastSeen: z.string(),
});
export const DeviceParams = z.object({ id: z.string().regex(/^[A-Za-z0-9_-]{22}$/, 'Not the id of a device') });

/** One entry of the audit trail; `action` in snake case. */
export const AuditEntry = z.object({
  id: z.string(),
  action: z.string(),
  createdAt: z.string(),
  domain: z.string().nullable(),
});
export const AuditQuery = z.object({ limit: z.coerce.number().int().min(1).max(100).default(20) });

export const WAITLIST_SERVICES = ['analytics', 'bugs'] as const;
export const WaitlistEntry = z.object({ service: z.enum(WAITLIST_SERVICES) });
export const Waitlist = z.object({ joined: z.array(z.enum(WAITLIST_SERVICES)) });

function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || /["<>\\^`{|}]/.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname } = new URL(text);
  return username === '' && password === '' && hostname.includes('.');
}
