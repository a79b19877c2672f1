import { expect, test } from 'vitest';
import { deviceLabelOf } from './browser.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, 'Microsoft Edge on Windows'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome on macOS'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['emailauth/1.0.0 (linux)', 'Email Auth CLI'],
  ['curl/8.14.1', 'Unknown browser'],
  ['', 'Unknown browser'],
  ['Your bank/1.0 (call 555) ', 'Unknown browser'],
  ['<b>Firefox</b>/1 ', 'Firefox'],
  [`Firefox/${'1'.repeat(600)}`, 'Unknown browser'],
])('the user agent %j gets the label %s', async (userAgent, label) => {
  expect(await deviceLabelOf(userAgent)).toBe(label);
  expect(await deviceLabelOf(userAgent)).toBe(label);
});
