import { z } from 'zod';

export const User = z.object({ id: z.string(), email: z.string(), name: z.string().nullable() });

/** Why a text is no name of a person or an organisation, or null: it stands on pages and may hold at most 80 characters. */
export const nameFault = (text: string) => lineFault(text, 80);

/** Why a text cannot stand as the sender's name in a mail, or null. Without the characters by which RFC 5322 §3.4 tells addresses. */
export const fromNameFault = (text: string) => lineFault(text, 60) ?? (/[@<>"\\,:;]/.test(text) ? 'A name without @ < > " \\ , : ;' : null);

/** Why a text is no address of a logo, or null. */
export function logoUrlFault(text: string): string | null {
  if (text.length > 500) return 'At most 500 characters';
  return text === '' || isHttpsUrl(text) ? null : 'An address that begins with https://';
}

const line = (faultOf: (text: string) => string | null) =>
  z
    .string()
    .trim()
    .superRefine((text, context) => {
      const message = faultOf(text);
      if (message) context.addIssue({ code: 'custom', message });
    });

export const Profile = z.object({ name: line(nameFault) });
export const Organisation = z.object({ organisation: line(nameFault) });

/** How the mails of an account's sites look. Empty: as the service's own. */
export const Branding = z.object({ fromName: line(fromNameFault), logoUrl: line(logoUrlFault) });

/** All that the settings tab shows. */
export const Settings = z.object({
  email: z.string(),
  name: z.string(),
  organisation: z.string(),
  plan: z.literal('Free'),
  branding: Branding,
  createdAt: z.string().meta({ description: 'Since when the account is there' }),
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

// No line ends, no invisible or direction-changing characters, none that Unicode leaves to whoever uses it.
function lineFault(text: string, most: number): string | null {
  if (text.length > most) return `At most ${most} characters`;
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u.test(text) ? 'No line ends and no invisible characters' : null;
}

function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || /["<>\\^`{|}]/.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname } = new URL(text);
  return username === '' && password === '' && hostname.includes('.');
}
