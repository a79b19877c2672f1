import { parse } from 'cookie';

import {
  fromNameFault,
  hasProofText,
  isThisMachine,
  logoUrlFault,
  nameFault,
  normalEmail,
  normalHost,
  readCode,
  readEmail,
  redirectUriFault,
} from '../contract/rules.ts';
import { oneLine } from '../diagnostics/check.ts';
import { searchDocs } from '../docs/search.ts';
import { deviceLabelOf } from '../server/accounts/browser.ts';
import { readOriginalRequest } from '../server/forward-auth/original-request.ts';
import { bearerOf, fieldsOf, isLoopbackHostHeader, networkOf } from '../server/http/reading.ts';
import { headerText } from '../server/mail/composition.ts';
import { isRedirectOf, readForwardUrl, withToken } from '../server/signin/target.ts';
import { rootDomainOf } from '../server/websites/domains.ts';
import { type GrowingText, growingCookies, growingFields, growingHeaders } from './growing-input.ts';
import { describeLinearTime, growingTexts } from './linear-time.ts';

const headers = growingHeaders.filter(({ header }) => header === 'Accept').map(({ what, text }): GrowingText => [what, text]);

const readPath = (path: string) => readOriginalRequest('notes.example', { headers: { 'x-forwarded-uri': path }, method: 'GET' }, true);

describeLinearTime([
  ['a query or form', fieldsOf, growingFields],
  ['cookies', parse, growingCookies],
  ['a TXT record of a proof', (text) => hasProofText([text], 'x'.repeat(32)), growingTexts],
  ['many TXT records of a proof', (text) => hasProofText(text.match(/.{1,200}/gs) ?? [], 'x'.repeat(32)), growingTexts],
  ['an address', normalEmail, growingTexts],
  ['an address as people enter it', readEmail, growingTexts],
  ['a code as people enter it', readCode, growingTexts],
  ['a host', normalHost, growingTexts],
  ['a domain to register', rootDomainOf, growingTexts],
  ['a forward_url', (text) => readForwardUrl(text, true), growingTexts],
  ['a redirect to a forward_url', (text) => withToken(`https://shop.example/${text}`, 'T'), growingTexts],
  ['a path of forward authentication', (text) => readPath(`/${text}`), growingTexts],
  ['a redirect_uri', (text) => isRedirectOf({ id: 'x', redirectUris: ['/callback'], kind: 'native' }, text), growingTexts],
  ['a redirect_uri of an application', redirectUriFault, growingTexts],
  ['a name', (text) => [nameFault(text), fromNameFault(text)], growingTexts],
  ['a logo', logoUrlFault, growingTexts],
  ['a host of this machine', (text) => [isThisMachine(text), isLoopbackHostHeader(text)], growingTexts],
  ['an address of a proxy', networkOf, [...growingTexts, ...headers]],
  ['Authorization', bearerOf, [...growingTexts, ...headers]],
  ['User-Agent', deviceLabelOf, [...growingTexts, ...headers]],
  ['the header of an email', headerText, growingTexts],
  ['text from the network', oneLine, growingTexts],
  ['a search of the documentation', (text) => searchDocs(text, { origin: 'https://auth.example' }), growingTexts.slice(0, 8)],
]);
