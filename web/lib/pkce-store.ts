import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import { local, localKeys, readStored, session, writeStored } from './storage.ts';

/** What a PKCE sign-in needs when its link is opened. */
export type PkceBundle = { codeVerifier: string; state: string; redirectUri: string; email: string };

type ReadResult = PkceBundle | 'missing' | 'wrong_state';

const PREFIX = 'pkce.';
const SESSION = { codeVerifier: 'code_verifier', state: 'state', redirectUri: 'redirect_uri', email: 'sign_in_email' } as const;
const fields = Object.keys(SESSION) as (keyof typeof SESSION)[];

/**
 * Stores the bundle for this tab and, since a mailed link opens in a new tab, under its state for every tab of the browser,
 * until the link expires.
 */
export function storePkce(bundle: PkceBundle) {
  deleteExpired();
  for (const field of fields) writeStored(session, SESSION[field], bundle[field]);
  writeStored(local, PREFIX + bundle.state, JSON.stringify({ ...bundle, expiresAt: Date.now() + ATTEMPT_SECONDS * 1000 }));
}

/** Returns the bundle with this state. `missing`: this browser began no sign-in; `wrong_state`: it began another one. */
export function readPkce(state: string): ReadResult {
  deleteExpired();
  const inTab = Object.fromEntries(fields.map((field) => [field, readStored(session, SESSION[field])]));
  if (inTab.state === state && inTab.codeVerifier && inTab.redirectUri) return { ...inTab, email: inTab.email ?? '' } as PkceBundle;
  const inBrowser = parse(readStored(local, PREFIX + state));
  if (inBrowser) return inBrowser;
  return inTab.state || localKeys().some((key) => key.startsWith(PREFIX)) ? 'wrong_state' : 'missing';
}

/** Deletes a bundle that was used, in every tab. */
export function deletePkce(state: string) {
  writeStored(local, PREFIX + state, null);
  deletePkceOfTab();
}

/** Deletes the bundle of this tab. */
export function deletePkceOfTab() {
  for (const field of fields) writeStored(session, SESSION[field], null);
}

function deleteExpired() {
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
