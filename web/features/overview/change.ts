/**
 * Returns how a count compares with that of the period before, as a sentence.
 * @param previous null: there was nothing to count during a part of that period
 */
export function changeOf(total: number, previous: number | null, days: number): string {
  const before = `the ${days} days before`;
  if (previous === null) return `Not enough earlier data to compare with ${before}.`;
  if (previous === total) return `As many as in ${before}.`;
  const counts = `${previous.toLocaleString('en')} in ${before}`;
  if (previous === 0) return `Up from ${counts}.`;
  const percent = Math.round((Math.abs(total - previous) / previous) * 100);
  const direction = total > previous ? 'Up' : 'Down';
  return `${direction} ${percent < 1 ? 'less than 1' : percent.toLocaleString('en')}% from ${counts}.`;
}
