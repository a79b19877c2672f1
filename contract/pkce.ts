/** Proof Key for Code Exchange (RFC 7636) on WebCrypto, for browsers and Node.js, and the two clients that are built in. */

/** The client id of the portal's own sign-in page. */
export const WEB_CLIENT_ID = 'emailauth_demo_client';
/** The client id of the command line, a native client (RFC 8252). */
export const CLI_CLIENT_ID = 'emailauth_cli';

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';

export type Pkce = { codeVerifier: string; codeChallenge: string; codeChallengeMethod: 'S256'; state: string };

/** Returns a new verifier of 128 characters, its S256 challenge and a state of 32 characters. */
export async function createPkce(): Promise<Pkce> {
  const codeVerifier = randomText(128);
  return { codeVerifier, codeChallenge: await challengeOf(codeVerifier), codeChallengeMethod: 'S256', state: randomText(32) };
}

/** Returns the S256 challenge of a verifier: base64url(SHA-256(verifier)) without padding (RFC 7636 §4.2). */
export async function challengeOf(codeVerifier: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier)));
  return btoa(String.fromCharCode(...digest))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '');
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 198 is a multiple of 66; larger bytes would make the first characters of the alphabet more likely.
      if (byte < 198 && text.length < length) text += UNRESERVED[byte % 66];
    }
  }
  return text;
}
