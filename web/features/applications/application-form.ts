import { redirectUriFault, serverUriFault } from '../../../contract/rules.ts';
import type { Application, ApplicationInput } from './queries.ts';
import { rowsOf, type UriRow } from './uri-list.tsx';

/** The fields of the form of an application, with what is wrong with them. */
export type ApplicationForm = {
  name: string;
  authentication: Application['authentication'];
  /** Public keys for private_key_jwt: the URL of a JWKS, or the JWKS. */
  keys: string;
  redirectUris: UriRow[];
  logoutUris: UriRow[];
  backchannelLogoutUri: string;
  scopes: Application['scopes'];
  isActive: boolean;
  faults: Partial<Record<'name' | 'keys' | 'backchannelLogoutUri' | 'scopes', string>>;
};

/** Scopes of a new application. */
const DEFAULT_SCOPES: Application['scopes'] = ['openid', 'email', 'profile', 'offline_access'];

/** Returns the form of an application, or of a new one. */
export function formOf(application: Application | null): ApplicationForm {
  const { jwks, jwksUri } = application ?? {};
  return {
    name: application?.name ?? '',
    authentication: application?.authentication ?? 'none',
    keys: jwksUri ?? (jwks ? JSON.stringify(jwks, null, 2) : ''),
    redirectUris: rowsOf(application?.redirectUris ?? [], true),
    logoutUris: rowsOf(application?.logoutUris ?? [], false),
    backchannelLogoutUri: application?.backchannelLogoutUri ?? '',
    scopes: application?.scopes ?? DEFAULT_SCOPES,
    isActive: application?.isActive ?? true,
    faults: {},
  };
}

/** Returns the form with its faults marked, and whether there are any. The service checks the rest. */
export function checkForm(form: ApplicationForm): { form: ApplicationForm; isValid: boolean } {
  const { name, authentication, keys, backchannelLogoutUri: logout, scopes } = form;
  const redirectUris = form.redirectUris.map((row) => ({ ...row, fault: faultOf(row.uri, redirectUriFault, 'Redirect URI is required') }));
  const logoutUris = form.logoutUris.map((row) => ({ ...row, fault: faultOf(row.uri, redirectUriFault, 'Enter an address or remove it') }));
  const faults: ApplicationForm['faults'] = {
    ...(name.trim() === '' && { name: 'Name is required' }),
    ...(authentication === 'private_key_jwt' && keysFault(keys)),
    ...(logout.trim() !== '' && serverUriFault(logout.trim()) && { backchannelLogoutUri: `This ${serverUriFault(logout.trim())}.` }),
    ...(scopes.length === 0 && { scopes: 'Allow at least one scope' }),
  };
  const isValid = Object.keys(faults).length === 0 && [...redirectUris, ...logoutUris].every(({ fault }) => fault === null);
  return { form: { ...form, redirectUris, logoutUris, faults }, isValid };
}

/** Returns what the service stores. */
export function inputOf(form: ApplicationForm): ApplicationInput {
  const { authentication } = form;
  const keys = authentication === 'private_key_jwt' ? form.keys.trim() : '';
  return {
    name: form.name.trim(),
    authentication,
    jwks: keys.startsWith('{') ? JSON.parse(keys) : null,
    jwksUri: keys === '' || keys.startsWith('{') ? null : keys,
    redirectUris: form.redirectUris.map(({ uri }) => uri.trim()),
    logoutUris: form.logoutUris.map(({ uri }) => uri.trim()),
    backchannelLogoutUri: form.backchannelLogoutUri.trim() || null,
    scopes: form.scopes,
    isActive: form.isActive,
  };
}

function faultOf(text: string, faultOfUri: (uri: string) => string | null, missing: string): string | null {
  const uri = text.trim();
  if (uri === '') return missing;
  const fault = faultOfUri(uri);
  return fault && `This ${fault}.`;
}

function keysFault(text: string): { keys: string } | null {
  const keys = text.trim();
  if (keys === '') return { keys: 'Public keys are required' };
  if (!keys.startsWith('{')) {
    const fault = serverUriFault(keys);
    return fault === null ? null : { keys: `This ${fault}.` };
  }
  try {
    return Array.isArray(JSON.parse(keys).keys) ? null : { keys: 'This has no list named keys.' };
  } catch {
    return { keys: 'This is not valid JSON.' };
  }
}
