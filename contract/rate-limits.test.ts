import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ENTERED } from './entered.ts';
import { MAX_CODE_TRIES, SPARE_WRONG_CODES } from './limits.ts';
import { RATE_LIMITS } from './rate-limits.ts';

const document = readFileSync(new URL('../docs/security.md', import.meta.url), 'utf8');
const HOUR = 3600;
const PERIODS = [HOUR, 24 * HOUR, 30 * 24 * HOUR];
const { wrong_codes, wrong_codes_total, wrong_codes_mailbox, mails_to_mailbox } = RATE_LIMITS;

/** Returns how many windows of `duration` a period of `seconds` can contain parts of. */
const windowsIn = (seconds: number, duration: number) => Math.ceil(seconds / duration) + 1;

const fromNetwork = (seconds: number) => wrong_codes.points * windowsIn(seconds, wrong_codes.duration);
const fromAll = (seconds: number) => (wrong_codes_total.points + SPARE_WRONG_CODES) * windowsIn(seconds, wrong_codes_total.duration);

/** An email is tried once, and those with the first wrong codes of a window up to five times. One sent before the period is tried in it too. */
const extraTries = (wrong_codes_mailbox.points / MAX_CODE_TRIES) * (MAX_CODE_TRIES - 1);
const atMailbox = (seconds: number) =>
  mails_to_mailbox.points * (windowsIn(seconds, mails_to_mailbox.duration) + 1) +
  extraTries * windowsIn(seconds, wrong_codes_mailbox.duration);

/** The chance that one guess is right, at the code that has the fewest values. */
const CHANCE = 1 / Math.min(...Object.values(ENTERED).map(({ values }) => values));

/** Returns the probability that one of so many guesses at codes is right, in percent with two digits. */
function chanceOf(guesses: number): string {
  const percent = 100 * (1 - (1 - CHANCE) ** guesses);
  return Number(percent.toPrecision(2)).toFixed(Math.max(0, 1 - Math.floor(Math.log10(percent))));
}

test.each([
  ['at one mailbox, while no one signs in to it', atMailbox],
  ['from one network, at all mailboxes', fromNetwork],
  ['from all networks, at all mailboxes', fromAll],
])('docs/security.md states the most guesses %s, and how likely one is right', (name, bound) => {
  const cells = PERIODS.map((seconds) => `${bound(seconds).toLocaleString('en')}: ${chanceOf(bound(seconds))} %`);
  expect(document.split('\n')).toContain(`| ${name} | ${cells.join(' | ')} |`);
});

test('docs/security.md states the limits of wrong codes', () => {
  expect(document).toContain(
    `| ${MAX_CODE_TRIES} wrong codes for an attempt, ${wrong_codes.points} an hour from a network (IPv6: a /48), ${wrong_codes_total.points.toLocaleString('en')} an hour in total |`,
  );
  expect(document).toContain(`may enter ${SPARE_WRONG_CODES} more, one each`);
  expect(document).toContain(`| ${wrong_codes_mailbox.points} wrong codes for a mailbox in ${wrong_codes_mailbox.duration / HOUR} hours |`);
  expect(document).toContain(`Each sign-in to a mailbox permits ${extraTries} more guesses at it.`);
  expect(document).toContain(
    `${RATE_LIMITS.mails_from_network.points} emails an hour from a network; ${RATE_LIMITS.mails_from_block.points} from`,
  );
});

test('a guide states no better bound than docs/security.md', () => {
  const guide = readFileSync(new URL('../docs/guide/security.md', import.meta.url), 'utf8');
  const stated = Number(/for 30 days succeeds with a probability below ([\d.]+) %/.exec(guide)?.[1]);
  expect(stated).toBeGreaterThanOrEqual(Number(chanceOf(atMailbox(30 * 24 * HOUR))));
});
