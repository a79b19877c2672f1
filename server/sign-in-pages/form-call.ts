import type { Output, RouteName } from '../../contract/routes.ts';
import type { BrowserRequest } from '../accounts/browser.ts';
import type { DescribedError } from '../http/errors.ts';
import { type InvokeSettings, invoke } from '../http/invoke.ts';
import type { Served } from '../http/serve.ts';

/** Makes a call of the API for a form post, with the cookies of its browser. Never rejects. */
export type FormCall = <Name extends RouteName>(
  name: Name,
  input: Record<string, unknown>,
  browser: BrowserRequest,
) => Promise<{ output: Output<Name>; error: null } | { output: null; error: DescribedError }>;

/** Returns the calls of the API as forms make them: with the same schemas, limits and time limits as over HTTP, and without an account. */
export function createFormCall(served: readonly Served[], settings: InvokeSettings): FormCall {
  const servedByName = new Map(served.map((each) => [each.name, each]));
  return async (name, input, browser) => {
    const found = servedByName.get(name);
    if (!found) throw new Error(`There is no call ${name}.`);
    const call = { ...browser, readInput: () => input, identify: async () => null, isAdmin: async () => false };
    const result = await invoke(found, call, settings);
    return result.error ? { output: null, error: result.error } : { output: JSON.parse(result.json), error: null };
  };
}
