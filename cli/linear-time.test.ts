import { describeLinearTime, growingTexts } from '../test/linear-time.ts';
import { createCookieJar } from './cookies.ts';
import { parseSpf } from './doctor/spf.ts';
import { printable } from './printable.ts';

/** Headers hold no other characters. */
const inHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, '');

describeLinearTime([
  ['text for a terminal', printable, growingTexts],
  ['an SPF record', parseSpf, growingTexts],
  ['Set-Cookie', (text) => createCookieJar().keep(new Headers([['Set-Cookie', inHeader(text)]])), growingTexts],
]);
