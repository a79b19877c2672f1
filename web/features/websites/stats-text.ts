/** Returns a duration: `14 s`, `2 min 5 s`. */
export function durationOf(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes === 0) return `${rest} s`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

/**
 * Returns a share in whole percent, or null of nothing. It is at most 100%: what is opened after midnight may have been requested before
 * the period. Only a whole is 100%, and only nothing is 0%.
 * @param of appended to it
 */
export function percentOf(part: number, whole: number, of = ''): string | null {
  if (whole === 0) return null;
  const percent = (100 * part) / whole;
  const text = percent > 0 && percent < 1 ? '< 1%' : `${Math.min(100, percent > 99 ? Math.floor(percent) : Math.round(percent))}%`;
  return of ? `${text} ${of}` : text;
}
