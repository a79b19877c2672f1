/** A day for people, such as 21 Dec 2026. @param moment ISO 8601 */
export function dayOf(moment: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(moment));
}
