/** Rules for names, times and the settings of applications, for every program. Sentences that say what is wrong are shown to people. */

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a time such as `30s`, `10m`, `1h` or `2d`, or null for any other text. */
export function secondsOf(time: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(time.trim()) ?? [];
  return amount === undefined ? null : Number(amount) * UNIT_SECONDS[unit];
}

/** Characters of the name of a person, an organization, an application or an API key. */
export const MAX_NAME_LENGTH = 80;

/** Characters of the name of a passkey. */
export const MAX_PASSKEY_NAME_LENGTH = 60;

/** What a person reads who gives no name to an application or an API key. */
export const NAME_REQUIRED = 'Name is required';

/** What a person reads who allows an application or an API key nothing. */
export const SCOPE_REQUIRED = 'Allow at least one scope';

/** Returns why a text cannot be a name (one line, at most MAX_NAME_LENGTH characters), or null. Empty means none. */
export const nameFault = (text: string) => lineFault(text, MAX_NAME_LENGTH);

/**
 * Returns why a text cannot be the sender's name in an email, or null. The characters that delimit addresses (RFC 5322 §3.4) are
 * refused, and so are characters that look like them, such as U+FF20 FULLWIDTH COMMERCIAL AT.
 */
export const fromNameFault = (text: string) =>
  lineFault(text, 60) ?? (/[@<>"\\,:;]/.test(text.normalize('NFKC')) ? 'A name without @ < > " \\ , : ;' : null);

/** Returns why a text cannot be the name of a website, or null. Empty means none. */
export const websiteNameFault = (text: string) => lineFault(text, 40);

/**
 * Returns why a text cannot be one line that people read, or null. Line ends, invisible and direction-changing characters, and
 * Unicode's private use areas are refused.
 */
export function lineFault(text: string, maxLength: number): string | null {
  if (text.length > maxLength) return `At most ${maxLength} characters`;
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u.test(text) ? 'No line ends and no invisible characters' : null;
}

/** How an application authenticates at the token endpoint. `none`: a public client (RFC 6749 §2.1), which has only PKCE. */
export const AUTHENTICATIONS = ['none', 'secret', 'private_key_jwt'] as const;
export type Authentication = (typeof AUTHENTICATIONS)[number];

/** How long a rotated API key remains valid, in hours. */
export const KEY_GRACE_HOURS = [0, 1, 24, 168] as const;

/** How long the former client secret of an application remains valid, in hours. */
export const SECRET_GRACE_HOURS = [0, 1, 24] as const;

/** Members of a JSON Web Key that are private (RFC 7518 §6). */
const PRIVATE_KEY_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Returns what is wrong with a public key of an application (RFC 7517), or null. */
export function publicKeyFault(key: { kty?: unknown } & Record<string, unknown>): string | null {
  if (!['EC', 'RSA', 'OKP'].includes(String(key.kty))) return 'A key must have the type EC, RSA or OKP.';
  if (PRIVATE_KEY_MEMBERS.some((member) => member in key)) return 'A key contains its private part: give the public key only.';
  return null;
}
