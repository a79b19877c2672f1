import type { Mail } from '../mail/mail.ts';
import type { AttemptKind, Secrets } from './secrets.ts';

/**
 * The link and the code that a mail carries, derived anew at each try.
 * @returns null for a mail that signs nobody in
 */
export function createMailSecrets(secrets: Secrets, publicUrl: string) {
  return ({ id, language, data }: Mail): { link: string; code: string } | null => {
    const kind = data.attempt as AttemptKind | undefined;
    if (!kind) return null;
    const secret = secrets.link(kind, id);
    // RFC 6749 §4.1.2 with RFC 9207's issuer, for the portal's own page; every other link opens the link page.
    const link =
      kind === 'app' && data.state !== undefined
        ? `${publicUrl}/auth/callback?${new URLSearchParams({ code: secret, state: data.state, iss: publicUrl, language })}`
        : `${publicUrl}/auth/link?t=${secret}`;
    return { link, code: secrets.code(kind, id) };
  };
}
