import type { IncomingMessage, ServerResponse } from 'node:http';
import { hintCookies } from '../../contract/remembered.ts';
import type { Accounts } from '../developers/accounts.ts';
import type { Mailer } from '../mail/mailer.ts';
import { cookiesOf } from '../platform/http/cookies.ts';
import type { Account } from '../platform/http/endpoint.ts';
import type { Platform } from '../platform/platform.ts';
import type { SignInDoors } from '../signin/doors.ts';
import type { SignInPages } from '../signin/pages.ts';
import type { WebsiteBrandings } from '../websites/branding.ts';
import { brandingPreviewRouter, previewRouter } from './preview-routes.ts';
import { pagesRouter } from './routes.ts';
import type { WebApp } from './web-app.ts';

type Needs = {
  web: WebApp;
  openApi(): Promise<object>;
  /** Returns the account that is signed in in the browser of a request. */
  accountOf(request: IncomingMessage, response: ServerResponse): Promise<Account | null>;
  signIn: { pages: SignInPages; doors: SignInDoors };
  mailer: Mailer;
  accounts: Accounts;
  brandings: WebsiteBrandings;
};

/** The pages and files for browsers, with the previews of emails and sign-in pages. Its routers handle every GET outside /api. */
export function createPages(platform: Platform, needs: Needs) {
  const { web, signIn } = needs;
  return {
    routers: [
      previewRouter({ ...platform, ...needs }),
      brandingPreviewRouter({ ...platform, ...needs }),
      pagesRouter({
        ...platform,
        ...needs,
        sendSignIn: async (request, response) => {
          web.sendSignIn(response, await signIn.pages.read(request, cookiesOf(request, response, platform.secure)));
        },
        isSignedIn: async (request, response) => {
          // Without this cookie no one is signed in, and the database is not asked.
          if (!request.headers.cookie?.includes(`${hintCookies.key}=`)) return false;
          return needs.accountOf(request, response).then(Boolean, () => false);
        },
        hasForm: (path) => signIn.doors.formAt('POST', path) !== undefined,
      }),
    ],
  };
}
