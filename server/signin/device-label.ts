import type Bowser from 'bowser';

const UNKNOWN = 'Unknown browser';
const PROGRAM = /^emailauth\b/;
/** Longer ones are no browser's. */
const MAX_CHARACTERS = 512;
const MAX_KEPT = 500;

const kept = new Map<string, string>();

/**
 * What a person may recognise a device by, such as `Firefox on Linux`. Only names that the parser knows: nothing that a request
 * says of itself stands in a list of devices.
 */
export async function deviceLabelOf(userAgent: string): Promise<string> {
  if (PROGRAM.test(userAgent)) return 'Email Auth CLI';
  if (userAgent === '' || userAgent.length > MAX_CHARACTERS) return UNKNOWN;
  const known = kept.get(userAgent);
  if (known !== undefined) return known;
  // 6 ms, which the start of the service does not pay.
  const label = labelOf((await import('bowser')).default, userAgent);
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(userAgent, label);
  return label;
}

function labelOf(bowser: typeof Bowser, userAgent: string): string {
  const parser = bowser.getParser(userAgent);
  const [browser, system] = [parser.getBrowserName(), parser.getOSName()];
  if (!Object.values(bowser.BROWSER_MAP).includes(browser)) return UNKNOWN;
  return Object.values(bowser.OS_MAP).includes(system) ? `${browser} on ${system}` : browser;
}
