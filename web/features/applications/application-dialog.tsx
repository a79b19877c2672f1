import { useRef, useState } from 'react';
import type { Input, Output } from '../../../contract/calls.ts';
import { MAX_CLIENT_URI } from '../../../contract/limits.ts';
import { redirectUriFault, serverUriFault } from '../../../contract/redirect-uris.ts';
import { MAX_NAME_LENGTH, NAME_REQUIRED, SCOPE_REQUIRED } from '../../../contract/rules.ts';
import { IDENTITY_SCOPES, RESOURCE_SCOPES } from '../../../contract/scopes.ts';
import { errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { Choices } from '../../ui/choices.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Disclosure } from '../../ui/panels.tsx';
import { toast } from '../../ui/toast.tsx';
import { rowsOf, Switch, scopeOptions, UriList, type UriRow } from './form-fields.tsx';
import { NewSecret } from './secret-dialogs.tsx';

type Application = Output<'listClients'>[number];

const TYPES: { value: Application['authentication']; label: string; hint: string }[] = [
  { value: 'none', label: 'Public: in a browser, on a phone or a computer', hint: 'It has no secret; PKCE protects its sign-ins.' },
  { value: 'secret', label: 'Confidential: on a server, with a secret', hint: 'It gets a client secret, which is shown once.' },
  {
    value: 'private_key_jwt',
    label: 'Confidential: on a server, with a key pair',
    hint: 'It signs a JWT with its private key (private_key_jwt). You give the public key.',
  },
];

const SCOPES = scopeOptions([...IDENTITY_SCOPES, ...RESOURCE_SCOPES]);

/** Adds an application or changes one. A new client secret is shown in its place. */
export function ApplicationDialog({ application, onClose }: { application: Application | null; onClose: () => void }) {
  const save = useAct(application ? 'updateClient' : 'createClient', { refreshes: ['listClients'] });
  const first = useRef<HTMLInputElement>(null);
  const [form, setForm] = useState(() => formOf(application));
  const [saved] = useState(form);
  const hasLogout = saved.logoutUris.length > 0 || saved.backchannelLogoutUri !== '';
  const changed = !application || JSON.stringify(contentOf(form)) !== JSON.stringify(contentOf(saved));

  const submit = () => {
    const checked = checkForm(form);
    setForm(checked.form);
    if (!checked.isValid) {
      // The fields are marked as invalid with the next render.
      requestAnimationFrame(() => {
        const invalid = first.current?.form?.querySelector<HTMLElement>('[aria-invalid]');
        invalid?.closest('details')?.setAttribute('open', '');
        invalid?.focus();
      });
      return;
    }
    save.mutate(application ? { id: application.id, isActive: form.isActive, ...inputOf(form) } : inputOf(form), {
      onSuccess: ({ name, clientSecret }) => {
        if (application) toast('Application updated', name);
        else toast('Application created', clientSecret ? name : 'Its client ID is in the list.');
        if (!clientSecret) onClose();
      },
    });
  };

  if (save.data?.clientSecret) return <NewSecret key="shown" application={save.data} secret={save.data.clientSecret} onClose={onClose} />;
  return (
    <FormDialog
      title={application ? `Configure ${application.name}` : 'New Application'}
      first={first}
      action={application ? 'Save' : 'Create Application'}
      changed={changed}
      busy={save.isPending}
      failure={save.error && errorText(save.error, 'The application could not be saved.')}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        ref={first}
        label="Name"
        name="name"
        required
        maxLength={MAX_NAME_LENGTH}
        autoComplete="off"
        placeholder="Notes for the team"
        hint="People see it when they sign in, beside the host of the redirect URI."
        value={form.name}
        error={form.faults.name}
        onChange={(event) => setForm({ ...form, name: event.target.value, faults: { ...form.faults, name: undefined } })}
      />
      <ClientType application={application} form={form} onChange={setForm} />
      <UriList
        name="redirect_uri"
        label="Redirect URI"
        legend="Redirect URIs"
        placeholder="https://app.example.com/callback"
        hint="Compared exactly; on localhost, 127.0.0.1 and [::1] any port matches."
        required
        rows={form.redirectUris}
        onChange={(redirectUris) => setForm({ ...form, redirectUris })}
      />
      {application && (
        <Switch
          label="Active"
          hint="While it is off, it signs no one in. Its tokens and open sign-ins end at once."
          checked={form.isActive}
          onChange={(isActive) => setForm({ ...form, isActive })}
        />
      )}
      <Advanced form={form} open={hasLogout} onChange={setForm} />
    </FormDialog>
  );
}

/** What few applications need, folded away in a new one. */
function Advanced({ form, open, onChange }: { form: ApplicationForm; open: boolean; onChange: (form: ApplicationForm) => void }) {
  return (
    <Disclosure summary="Advanced: logout and scopes" open={open}>
      <div className="grid gap-5 p-4">
        <UriList
          name="logout_uri"
          label="Logout URI"
          legend="Logout URIs"
          placeholder="https://app.example.com/"
          hint="Where a logout may return to (post_logout_redirect_uri)."
          rows={form.logoutUris}
          onChange={(logoutUris) => onChange({ ...form, logoutUris })}
        />
        <Field
          label="Back-channel logout URI (optional)"
          name="backchannel_logout_uri"
          mono
          autoComplete="off"
          autoCapitalize="none"
          spellCheck="false"
          inputMode="url"
          maxLength={MAX_CLIENT_URI}
          placeholder="https://app.example.com/logged-out"
          hint="Receives a request when a session has ended."
          value={form.backchannelLogoutUri}
          error={form.faults.backchannelLogoutUri}
          onChange={(event) =>
            onChange({ ...form, backchannelLogoutUri: event.target.value, faults: { ...form.faults, backchannelLogoutUri: undefined } })
          }
        />
        <Choices
          label="Scopes"
          hint="What it may request. People are asked before they allow it."
          error={form.faults.scopes}
          options={SCOPES}
          chosen={form.scopes}
          onChange={(scopes) => onChange({ ...form, scopes, faults: { ...form.faults, scopes: undefined } })}
        />
      </div>
    </Disclosure>
  );
}

/** Public or confidential, and the public keys of private_key_jwt. */
function ClientType({
  application,
  form,
  onChange,
}: {
  application: Application | null;
  form: ApplicationForm;
  onChange: (form: ApplicationForm) => void;
}) {
  const losesSecret = application?.authentication === 'secret' && form.authentication !== 'secret';
  return (
    <>
      <Select
        label="Type"
        name="type"
        options={TYPES}
        hint={
          losesSecret ? 'Its client secret stops working when you save.' : TYPES.find(({ value }) => value === form.authentication)?.hint
        }
        value={form.authentication}
        onChange={(event) => onChange({ ...form, authentication: event.target.value as Application['authentication'] })}
      />
      {form.authentication !== 'none' && (
        <Switch
          label="Require PKCE"
          hint="Turn it off only for software that cannot send a code challenge."
          checked={form.pkceRequired}
          onChange={(pkceRequired) => onChange({ ...form, pkceRequired })}
        />
      )}
      {form.authentication === 'private_key_jwt' && (
        <Field
          label="Public keys"
          name="keys"
          required
          mono
          rows={4}
          spellCheck="false"
          placeholder="https://app.example.com/jwks.json"
          hint="The URL of a JWKS, or the JWKS as JSON, without private keys."
          value={form.keys}
          error={form.faults.keys}
          onChange={(event) => onChange({ ...form, keys: event.target.value, faults: { ...form.faults, keys: undefined } })}
        />
      )}
    </>
  );
}

/** The fields of the form of an application, with what is wrong with them. */
type ApplicationForm = {
  name: string;
  authentication: Application['authentication'];
  /** Public keys for private_key_jwt: the URL of a JWKS, or the JWKS. */
  keys: string;
  redirectUris: UriRow[];
  logoutUris: UriRow[];
  backchannelLogoutUri: string;
  pkceRequired: boolean;
  scopes: Application['scopes'];
  isActive: boolean;
  faults: Partial<Record<'name' | 'keys' | 'backchannelLogoutUri' | 'scopes', string>>;
};

/** Scopes of a new application. */
const DEFAULT_SCOPES: Application['scopes'] = ['openid', 'email', 'profile', 'offline_access'];

/** Returns the form of an application, or of a new one. */
function formOf(application: Application | null): ApplicationForm {
  const { jwks, jwksUri } = application ?? {};
  return {
    name: application?.name ?? '',
    authentication: application?.authentication ?? 'none',
    keys: jwksUri ?? (jwks ? JSON.stringify(jwks, null, 2) : ''),
    redirectUris: rowsOf(application?.redirectUris ?? [], true),
    logoutUris: rowsOf(application?.logoutUris ?? [], false),
    backchannelLogoutUri: application?.backchannelLogoutUri ?? '',
    pkceRequired: application?.pkceRequired ?? true,
    scopes: application?.scopes ?? DEFAULT_SCOPES,
    isActive: application?.isActive ?? true,
    faults: {},
  };
}

/** Returns the form with its faults marked, and whether there are any. The service checks the rest. */
function checkForm(form: ApplicationForm): { form: ApplicationForm; isValid: boolean } {
  const { name, authentication, keys, backchannelLogoutUri: logout, scopes } = form;
  const redirectUris = form.redirectUris.map((row) => ({ ...row, fault: faultOf(row.uri, redirectUriFault, 'Redirect URI is required') }));
  const logoutUris = form.logoutUris.map((row) => ({ ...row, fault: faultOf(row.uri, redirectUriFault, 'Enter an address or remove it') }));
  const faults: ApplicationForm['faults'] = {
    ...(name.trim() === '' && { name: NAME_REQUIRED }),
    ...(authentication === 'private_key_jwt' && keysFault(keys)),
    ...(logout.trim() !== '' && serverUriFault(logout.trim()) && { backchannelLogoutUri: `This ${serverUriFault(logout.trim())}.` }),
    ...(scopes.length === 0 && { scopes: SCOPE_REQUIRED }),
  };
  const isValid = Object.keys(faults).length === 0 && [...redirectUris, ...logoutUris].every(({ fault }) => fault === null);
  return { form: { ...form, redirectUris, logoutUris, faults }, isValid };
}

/** Returns what a person entered. */
const contentOf = ({ faults: _, redirectUris, logoutUris, ...rest }: ApplicationForm) => ({
  ...rest,
  redirectUris: redirectUris.map(({ uri }) => uri),
  logoutUris: logoutUris.map(({ uri }) => uri),
});

/** Returns what the service stores. */
function inputOf(form: ApplicationForm): Input<'createClient'> {
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
    pkceRequired: authentication === 'none' || form.pkceRequired,
    scopes: form.scopes,
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
