import { parse } from 'tldts';
import { oneLine } from '../../diagnostics/check.ts';

const MAX_LENGTH = 60;
/** Letters, marks and digits, and the punctuation of names. */
const PLAIN = /^[\p{L}\p{M}0-9 .,'’&()+:!–-]+$/u;
/** Scripts that are written together count as one (Unicode Technical Standard 39, §5.1). */
const SCRIPTS = [
  /^\p{scx=Latin}+$/u,
  /^\p{scx=Greek}+$/u,
  /^\p{scx=Cyrillic}+$/u,
  /^\p{scx=Armenian}+$/u,
  /^\p{scx=Georgian}+$/u,
  /^\p{scx=Hebrew}+$/u,
  /^\p{scx=Arabic}+$/u,
  /^\p{scx=Devanagari}+$/u,
  /^\p{scx=Bengali}+$/u,
  /^\p{scx=Gujarati}+$/u,
  /^\p{scx=Gurmukhi}+$/u,
  /^\p{scx=Tamil}+$/u,
  /^\p{scx=Telugu}+$/u,
  /^\p{scx=Kannada}+$/u,
  /^\p{scx=Malayalam}+$/u,
  /^\p{scx=Sinhala}+$/u,
  /^\p{scx=Thai}+$/u,
  /^\p{scx=Lao}+$/u,
  /^\p{scx=Khmer}+$/u,
  /^\p{scx=Myanmar}+$/u,
  /^\p{scx=Ethiopic}+$/u,
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]+$/u,
  /^[\p{scx=Han}\p{scx=Hangul}]+$/u,
];
/** A combining mark after letters of scripts that need none. */
const NEEDLESS_MARK = /^[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}]*\p{M}/u;
/** Letters of other scripts that look like Latin ones: a name of these alone looks like another name. */
const LATIN_LOOKALIKES = /^[АВЕЅІЈКМНОРСТУХаеорсухіјѕһӏԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧορν]+$/u;

/**
 * Returns the name that a client gives itself, in one line of at most 60 characters, or null where it could be taken for something else:
 * with letters of several scripts, letters that look like others, invisible ones, signs, or an address other than its own.
 * @param hosts of its redirect URIs
 */
export function clientNameOf(text: string, hosts: readonly string[]): string | null {
  const name = oneLine(text, Number.POSITIVE_INFINITY).normalize('NFC');
  const letters = name.replace(/[^\p{L}\p{M}]/gu, '');
  if (!letters || !PLAIN.test(name) || name.normalize('NFKC') !== name) return null;
  if (!SCRIPTS.some((script) => script.test(letters)) || /\p{DI}/u.test(letters)) return null;
  if (NEEDLESS_MARK.test(letters) || /\p{M}{3}/u.test(letters) || LATIN_LOOKALIKES.test(letters)) return null;
  const domains = name.split(/[^\p{L}\p{M}0-9.-]+/u).flatMap((word) => domainIn(word) ?? []);
  return domains.every((domain) => hosts.some((host) => `.${host}`.endsWith(`.${domain}`))) ? oneLine(name, MAX_LENGTH) : null;
}

/** Returns the host in a word, or null when it does not end like one. */
function domainIn(word: string): string | null {
  const { hostname, domain, isIcann } = parse(word.split('.').filter(Boolean).join('.'));
  return domain !== null && isIcann ? hostname : null;
}
