const typed = new Map<string, string>();

/** Remembers what was typed into the fields of a page before the script took it over: the first render replaces it. */
export function keepTyped(page: HTMLElement) {
  for (const { name, value } of page.querySelectorAll<HTMLInputElement>('input:not([type="hidden"])')) if (value) typed.set(name, value);
}

/** Returns what was typed into a field before the script took the page over; undefined for nothing, and in later renders. */
export const typedBefore = (name: string) => typed.get(name);

/** Forgets what was typed, once the first render is over. */
export const forgetTyped = () => typed.clear();
