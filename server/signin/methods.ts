import type { z } from 'zod';
import { SignInConditions, type signInMethods } from '../../contract/signin.ts';

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

/** Returns the method as the column of a token has it, as SQL. */
export const methodCode = (method: ReportedMethod) => `'${METHOD_CODES[method]}'::"char"`;

const METHODS = new Map<string, ReportedMethod>(Object.entries(METHOD_CODES).map(([method, code]) => [code, method as ReportedMethod]));

/** Returns the method of a token by its column. */
export const methodOf = (code: string): ReportedMethod => METHODS.get(code) ?? 'remembered';

/** What a website or an application asks of a sign-in. */
export type Conditions = {
  /** How many seconds ago the address may have been proven; null: at any time. */
  maxAge: number | null;
  /** Only a passkey signs in. */
  passkey: boolean;
};

/** The conditions as the parameters of a call and of the sign-in page have them. */
type Parameters = z.output<typeof SignInConditions>;

/** Returns the conditions of a call. */
export function conditionsOf({ max_age, require }: Parameters): Conditions {
  return { maxAge: max_age ?? null, passkey: require === 'passkey' };
}

/** The conditions of an attempt whose address is proven before a passkey is added. */
export const PASSKEY_ONLY = 'require=passkey';

/** Returns the parameters of the sign-in page for the conditions of a call, as an attempt keeps them; null when there are none. */
export function conditionsQuery({ max_age, require }: Parameters): string | null {
  const query = new URLSearchParams();
  if (max_age !== undefined) query.set('max_age', String(max_age));
  if (require !== undefined) query.set('require', require);
  return query.size > 0 ? String(query) : null;
}

/** Returns the SQL condition that an attempt needs a passkey after its email. @param conditions the column, as SQL */
export const needsPasskey = (conditions: string) => `coalesce(${conditions} like '%${PASSKEY_ONLY}', false)`;

/** Returns the conditions in the query of a page, or the name of the first parameter with a wrong value. */
export function readConditions({ max_age, require }: Record<string, string | string[]>): Parameters | 'max_age' | 'require' {
  const read = SignInConditions.safeParse({ max_age, require });
  if (read.success) return read.data;
  return read.error.issues[0].path[0] === 'max_age' ? 'max_age' : 'require';
}

/** Returns the sign-in page of an attempt, to begin again. @param conditions of the attempt */
export function signInPath(forwardUrl: string, conditions: string | null, language: string): string {
  return `/auth?${new URLSearchParams({ forward_url: forwardUrl })}${conditions ? `&${conditions}` : ''}&language=${language}`;
}
