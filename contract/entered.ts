import { INVISIBLE } from './emails.ts';
import type { EmailMethod } from './methods.ts';

/** What a person enters from an email, of one method. */
type Row = {
  /** How many characters a value has. */
  places: number;
  /** The form of a value. */
  pattern: RegExp;
  /** How many values there are, all equally likely. */
  values: number;
  /** Returns the value with a number from 0 to `values` - 1. */
  valueAt(number: number): string;
  /** In sentences: what it consists of, what a person types, and which code it is. */
  words: { size: string; unit: string; adjective: string };
  /** The keyboard of a field for it. */
  inputMode: 'numeric' | 'text';
  /** Returns the value in a typed or pasted text, or null. `typed`: the characters of its longest group that a value can have. */
  read(text: string): { value: string | null; typed: string };
};

const DIGITS = 6;

const TABLE = {
  code: {
    places: DIGITS,
    pattern: /^\d{6}$/,
    values: 10 ** DIGITS,
    valueAt: (number) => String(number).padStart(DIGITS, '0'),
    words: { size: 'six digits', unit: 'digits', adjective: 'six-digit' },
    inputMode: 'numeric',
    read: readDigits,
  },
} satisfies Partial<Record<EmailMethod, Row>>;

/** A method whose email has something to enter: a code, as calls, statuses and limits name it whatever the method. */
export type EnteredMethod = keyof typeof TABLE;

/** What a person enters, and by which method it signs in. */
export type Entered = { method: EnteredMethod; value: string };

/** What a person enters from an email, one row for each method that has something to enter. An email has a value of each. */
export const ENTERED: Readonly<Record<EnteredMethod, Row>> = TABLE;

/** The methods of its rows, in the order in which emails have their values. */
export const ENTERED_METHODS = Object.keys(ENTERED) as [EnteredMethod, ...EnteredMethod[]];

/** Returns something for each of these methods. */
export const mapEntered = <T>(of: (method: EnteredMethod) => T) =>
  Object.fromEntries(ENTERED_METHODS.map((method) => [method, of(method)])) as Record<EnteredMethod, T>;

/** Returns a part of a sentence about everything that can be entered, such as `six digits`. */
export const anyEntered = (part: keyof Row['words']): string => ENTERED_METHODS.map((method) => ENTERED[method].words[part]).join(' or ');

/**
 * Returns what a person means with a typed or pasted text, such as a whole line of the email. `value` is null for a text without a value,
 * or with two of them.
 * @returns `typed`: what of it a field shows; `missing`: how many places are missing, 0 or less when none is
 */
export function readEntered(text: string): { method: EnteredMethod; value: string | null; typed: string; missing: number } {
  const read = ENTERED_METHODS.map((method) => ({ method, ...ENTERED[method].read(text) }));
  const longest = () => read.reduce((found, each) => (each.typed.length > found.typed.length ? each : found));
  const { method, value, typed } = read.find((each) => each.value !== null) ?? longest();
  if (value !== null) return { method, value, typed: value, missing: 0 };
  const { places } = ENTERED[method];
  return { method, value, typed: typed.slice(0, places), missing: places - typed.length };
}

/** Returns what is wrong with a text that has no value (readEntered), as a sentence. */
export function enteredFault({ method, missing }: { method: EnteredMethod; missing: number }): string {
  const { size } = ENTERED[method].words;
  return missing > 0
    ? `The ${method} has ${size}: ${missing} ${missing === 1 ? 'is' : 'are'} missing.`
    : `Give only the ${size} of the ${method}.`;
}

/** Reads the six digits of a code: of any script, in groups, or within a line of the email that has them. The result is in ASCII. */
function readDigits(input: string): { value: string | null; typed: string } {
  const text = input.replace(/[^\P{Nd}0-9]/gu, digitOf).replace(INVISIBLE, '$1');
  const isCode = (digits: string) => digits.length === DIGITS;
  // Digits with nothing but blanks, dashes and points between them.
  const groups = text.split(/[^\d\s\p{Pd}\u2212.\xb7]+/u).map(digitsOf);
  // Where a code stands between blanks, no other digits count: those of a host, say.
  const words = text.split(/\s+/).filter((word) => /^[^\p{L}\d]*\d{6}[^\p{L}\d]*$/u.test(word));
  const codes = new Set(words.length > 0 ? words.map(digitsOf) : groups.filter(isCode));
  const typed = groups.reduce((longest, group) => (group.length > longest.length ? group : longest), '');
  return { value: codes.size === 1 ? [...codes][0] : null, typed };
}

const digitsOf = (text: string) => text.replace(/\D/g, '');

/** Returns a decimal digit of any script in ASCII. Each script has its ten digits in a row (Unicode §4.6). */
function digitOf(digit: string): string {
  const value = digit.codePointAt(0) as number;
  let first = value;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((value - first) % 10);
}
