/** Proof Key for Code Exchange (RFC 7636) on WebCrypto, for browsers and programs alike. */

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';

export type Pkce = { codeVerifier: string; codeChallenge: string; codeChallengeMethod: 'S256'; state: string };

/** A verifier of 128 characters, its S256 challenge and a state of 32 characters. */
export async function createPkce(): Promise<Pkce> {
  const codeVerifier = randomText(128);
  return { codeVerifier, codeChallenge: await challengeOf(codeVerifier), codeChallengeMethod: 'S256', state: randomText(32) };
}

/** RFC 7636 §4.2: base64url(SHA-256(verifier)), without padding. */
export async function challengeOf(codeVerifier: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier)));
  return btoa(String.fromCharCode(...digest))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // Bytes past the largest multiple of the alphabet would make its first characters likelier.
      if (byte < 198 && text.length < length) text += UNRESERVED[byte % 66];
    }
  }
  return text;
}
