import { EMAIL_METHODS, METHODS, type Method, methodNames, OTHER_METHODS } from '../../../contract/methods.ts';

/*
 * How the columns `method` and `action` say that a person signed in, as SQL. The action says to what: `signed_in` to a website or to the
 * portal, `application_signed_in` to an application.
 */

/** Returns a method as a column has it. */
export const methodCode = (method: Method) => `'${METHODS[method].code}'::"char"`;

const METHOD_OF = new Map<string, Method>(methodNames.map((method) => [METHODS[method].code, method]));

/** Returns the method of a column. */
export const methodOf = (code: string): Method => METHOD_OF.get(code) as Method;

const isOneOf = (methods: readonly Method[]) => `method in (${methods.map(methodCode).join(', ')})`;

/** Whether a row is a sign-in to a website, to an application or to the portal. */
const IS_SIGN_IN = "action in ('signed_in', 'application_signed_in')";

/** Whether the method of a row sends no email. */
export const NEEDS_NO_EMAIL = isOneOf(OTHER_METHODS);
/** Whether a row is a sign-in by an email. */
export const BY_EMAIL = `(${IS_SIGN_IN} and ${isOneOf(EMAIL_METHODS)})`;
/** Whether a row is a sign-in without an email. */
export const WITHOUT_EMAIL = `(${IS_SIGN_IN} and ${NEEDS_NO_EMAIL})`;

/** Returns what a sign-in has by its method, and null for other rows and where the method has null. */
export const ofSignIn = (textOf: (method: Method) => string | null) => {
  const cases = methodNames.map((method) => ({ code: methodCode(method), text: textOf(method) }));
  const whens = cases.filter(({ text }) => text !== null).map(({ code, text }) => `when ${code} then '${text}'`);
  return `case when ${IS_SIGN_IN} then case method ${whens.join(' ')} end end`;
};

function actionOf(method: Method): string | null {
  const row = METHODS[method];
  return row.sendsMail ? null : row.action;
}

/** The action of a row as audit logs show it. */
export const SHOWN_ACTION = `coalesce(${ofSignIn(actionOf)}, action)`;

/** The name of the method of a row. */
export const METHOD_NAME = `case method ${methodNames.map((method) => `when ${methodCode(method)} then '${method}'`).join(' ')} end`;
