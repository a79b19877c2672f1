// C0 and C1 controls, line and paragraph separators, and what turns the direction of writing round.
const STEERING = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * What came from the network, fit for a terminal: in every string, also within lists and objects, a blank stands for each run of
 * characters that would steer the terminal instead of being shown by it.
 */
export function plain<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replace(STEERING, ' ') as Value;
  if (Array.isArray(value)) return value.map(plain) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [plain(key), plain(each)])) as Value;
}
