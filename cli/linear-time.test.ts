import { parseSpf } from '../diagnostics/spf.ts';
import { describeLinearTime, growingTexts } from '../test/linear-time.ts';
import { createCookieJar } from './api.ts';
import { printable } from './terminal.ts';

/** Headers hold no other characters. */
const inHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, '');

describeLinearTime([
  ['text for a terminal', printable, growingTexts],
  ['an SPF record', parseSpf, growingTexts],
  ['Set-Cookie', (text) => createCookieJar().store(new Headers([['Set-Cookie', inHeader(text)]])), growingTexts],
]);
