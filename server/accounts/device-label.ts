import type Bowser from 'bowser';
import { LRUCache } from 'lru-cache';

const UNKNOWN = 'Unknown browser';
const PROGRAM = /^emailauth\b/;
const MAX_USER_AGENT_LENGTH = 512;

const labels = new LRUCache<string, string>({ max: 500 });

/**
 * Returns a label by which a person may recognize a device, such as `Firefox on Linux`. It consists of names that the parser
 * knows, so that no text of a request's own appears in a list of devices.
 */
export async function deviceLabelOf(userAgent: string): Promise<string> {
  if (PROGRAM.test(userAgent)) return 'Email Auth CLI';
  if (userAgent === '' || userAgent.length > MAX_USER_AGENT_LENGTH) return UNKNOWN;
  const cached = labels.get(userAgent);
  if (cached !== undefined) return cached;
  // Imported on first use: 6 ms that would delay the start of the service.
  const label = labelOf((await import('bowser')).default, userAgent);
  labels.set(userAgent, label);
  return label;
}

function labelOf(bowser: typeof Bowser, userAgent: string): string {
  const parser = bowser.getParser(userAgent);
  const [browser, system] = [parser.getBrowserName(), parser.getOSName()];
  if (!Object.values(bowser.BROWSER_MAP).includes(browser)) return UNKNOWN;
  return Object.values(bowser.OS_MAP).includes(system) ? `${browser} on ${system}` : browser;
}
