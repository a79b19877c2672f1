/** A cookie that a response sets (RFC 6265bis). */
export type SetCookie = {
  name: string;
  value: string;
  httpOnly: boolean;
  secure: boolean;
  /** In lower case; null when the attribute is missing, so that browsers take Lax. */
  sameSite: string | null;
  /** It expires at once. */
  isDeleted: boolean;
};

/** Returns the cookies of `Set-Cookie` headers; those that are not valid are left out. */
export function parseSetCookies(headers: readonly string[]): SetCookie[] {
  return headers.flatMap((header) => {
    const [pair, ...attributes] = header.split(';').map((part) => part.trim());
    const separator = pair.indexOf('=');
    if (separator < 1) return [];
    const values = new Map<string, string>();
    for (const attribute of attributes) {
      const [name, value = ''] = attribute.split('=');
      values.set(name.trim().toLowerCase(), value.trim());
    }
    const value = pair.slice(separator + 1);
    return [
      {
        name: pair.slice(0, separator),
        value,
        httpOnly: values.has('httponly'),
        secure: values.has('secure'),
        sameSite: values.get('samesite')?.toLowerCase() ?? null,
        isDeleted: value === '' || isOver(values),
      },
    ];
  });
}

function isOver(attributes: ReadonlyMap<string, string>): boolean {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  return Date.parse(attributes.get('expires') ?? '') < Date.now();
}

/** Returns the names of the cookies that a response sets, without those that it deletes. */
export const namesOfSetCookies = (headers: readonly string[]): string[] =>
  parseSetCookies(headers)
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ name }) => name);

/** Whether scripts of the page have to read a cookie: a token against forged forms, which is not a session. */
export const isFormToken = ({ name }: SetCookie): boolean => /csrf|xsrf/i.test(name);
