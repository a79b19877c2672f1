/** Whether a text could be an address at all: no spaces, one `@`, a dot in the domain. The service judges the rest. */
export const looksLikeEmail = (text: string) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text);
