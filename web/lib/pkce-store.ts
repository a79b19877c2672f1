import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import { local, localKeys, readStored, session, writeStored } from './storage.ts';

/** What a PKCE sign-in needs again when its link is opened. */
export type PkceBundle = { codeVerifier: string; state: string; redirectUri: string; email: string };

export type Recalled = PkceBundle | 'missing' | 'wrong_state';

const PREFIX = 'pkce.';
const SESSION = { codeVerifier: 'code_verifier', state: 'state', redirectUri: 'redirect_uri', email: 'sign_in_email' } as const;
const fields = Object.keys(SESSION) as (keyof typeof SESSION)[];

/**
 * Keeps the bundle for this tab and, because a mailed link opens in a new one, under its state for every tab of the
 * browser, for as long as the mail is good.
 */
export function keepPkce(bundle: PkceBundle) {
  dropExpired();
  for (const field of fields) writeStored(session, SESSION[field], bundle[field]);
  writeStored(local, PREFIX + bundle.state, JSON.stringify({ ...bundle, expiresAt: Date.now() + ATTEMPT_SECONDS * 1000 }));
}

/** The bundle whose state came back. `missing`: this browser began no sign-in; `wrong_state`: it began another one. */
export function recallPkce(state: string): Recalled {
  dropExpired();
  const ofTab = Object.fromEntries(fields.map((field) => [field, readStored(session, SESSION[field])]));
  if (ofTab.state === state && ofTab.codeVerifier && ofTab.redirectUri) return { ...ofTab, email: ofTab.email ?? '' } as PkceBundle;
  const ofBrowser = parse(readStored(local, PREFIX + state));
  if (ofBrowser) return ofBrowser;
  return ofTab.state || localKeys().some((key) => key.startsWith(PREFIX)) ? 'wrong_state' : 'missing';
}

/** Forgets a bundle that was used, here and for the other tabs. */
export function dropPkce(state: string) {
  writeStored(local, PREFIX + state, null);
  clearPkceOfTab();
}

/** Clears what this tab kept of a sign-in. */
export function clearPkceOfTab() {
  for (const field of fields) writeStored(session, SESSION[field], null);
}

function dropExpired() {
  for (const key of localKeys()) if (key.startsWith(PREFIX) && !parse(readStored(local, key))) writeStored(local, key, null);
}

function parse(text: string | null): PkceBundle | null {
  try {
    const { expiresAt, ...bundle } = JSON.parse(text ?? 'null');
    return expiresAt > Date.now() ? bundle : null;
  } catch {
    return null;
  }
}
