import type { signInMethods } from '../../contract/signin.ts';

/** How a person signed in, as a website learns it. */
export type ReportedMethod = (typeof signInMethods)[number];

/** The same, with passkeys that are bound to the hardware of one device apart, for OpenID Connect. */
export type TokenMethod = ReportedMethod | 'hardware_passkey';

/** The methods as the column `method` of a token has them. */
export const METHOD_CODES = {
  link: 'l',
  code: 'c',
  remembered: 'r',
  passkey: 'p',
  hardware_passkey: 'h',
  verified_email: 'v',
} as const satisfies Record<TokenMethod, string>;

/** Returns the method as the column of a token has it, as SQL. */
export const methodCode = (method: TokenMethod) => `'${METHOD_CODES[method]}'::"char"`;

const METHODS = new Map<string, TokenMethod>(Object.entries(METHOD_CODES).map(([method, code]) => [code, method as TokenMethod]));

/** Returns the method of a token by its column. */
export const methodOf = (code: string): TokenMethod => METHODS.get(code) ?? 'remembered';

/** Returns the method of a token as a website learns it. */
export function reportedMethodOf(code: string): ReportedMethod {
  const method = methodOf(code);
  return method === 'hardware_passkey' ? 'passkey' : method;
}
