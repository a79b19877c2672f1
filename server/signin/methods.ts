import type { signInMethods } from '../../contract/signin.ts';

/** How a person signed in, as a website learns it. */
export type ReportedMethod = (typeof signInMethods)[number];

/** The methods as the column `method` of a token has them. */
export const METHOD_CODES = {
  link: 'l',
  code: 'c',
  remembered: 'r',
  passkey: 'p',
  verified_email: 'v',
} as const satisfies Record<ReportedMethod, string>;

const METHODS = new Map<string, ReportedMethod>(Object.entries(METHOD_CODES).map(([method, code]) => [code, method as ReportedMethod]));

/** Returns the method of a token by its column. */
export const methodOf = (code: string): ReportedMethod => METHODS.get(code) ?? 'remembered';
