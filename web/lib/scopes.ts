import { SCOPE_DESCRIPTIONS } from '../../contract/scopes.ts';

type Scope = keyof typeof SCOPE_DESCRIPTIONS;

/** Returns what a scope permits, as a sentence of its own: `See your email address`. */
export const scopeText = (scope: Scope) => SCOPE_DESCRIPTIONS[scope].replace(/^./, (first) => first.toUpperCase());

/** Returns the choices for a list of scopes. */
export const scopeOptions = <Name extends Scope>(scopes: readonly Name[]) =>
  scopes.map((scope) => ({ value: scope, label: scope, hint: scopeText(scope) }));
