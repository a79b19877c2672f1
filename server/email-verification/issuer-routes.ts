import { type Request, type Response, Router } from 'express';
import { Fault } from '../../contract/errors.ts';
import { type CookieSettings, receivedCookies } from '../http/cookies.ts';
import { type DescribeError, sendError } from '../http/errors.ts';
import { clientAddressOf, readText } from '../http/reading.ts';
import { requestIdOf } from '../http/request-record.ts';
import { ACCOUNTS_PATH, type EmailVerificationIssuer, ISSUANCE_PATH } from './issuer.ts';

type Parts = {
  issuer: EmailVerificationIssuer;
  cookieSettings: CookieSettings;
  trustProxy: number;
  describeError: DescribeError;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

const PUBLIC = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' };

/** Browsers make these requests in the name of the website, and drop responses with another policy. No page can read them by it. */
const FOR_BROWSERS = { 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** The endpoints of the issuer of email verification tokens. Errors are named as the draft of the protocol names them. */
export function emailVerificationIssuerRouter({ issuer, cookieSettings, trustProxy, describeError, ...parts }: Parts): Router {
  const headers = { ...parts.headers, ...FOR_BROWSERS };
  const router = Router();
  const cookieOf = (request: Request) => receivedCookies(request, cookieSettings.secure).get('email_verification');
  const respond = async (request: Request, response: Response, name: string, work: () => Promise<object> | object) => {
    try {
      const output = await work();
      response.set(headers).json(output);
    } catch (error) {
      sendError(response, describeError(error, name, requestIdOf(request)), headers, { oauth: true });
    }
  };
  for (const [path, body] of [
    ['/.well-known/email-verification', issuer.metadata()],
    ['/.well-known/web-identity', issuer.webIdentity()],
  ] as const) {
    router.get(path, (_, response) => void response.set({ ...headers, ...PUBLIC }).json(body));
  }
  router.get(ACCOUNTS_PATH, (request, response) =>
    respond(request, response, 'email-verification-accounts', () => issuer.accounts(request.headers, cookieOf(request))),
  );
  router.post(ISSUANCE_PATH, (request, response) =>
    respond(request, response, 'email-verification-issuance', async () => {
      if (request.headers['content-type']?.split(';')[0].trim().toLowerCase() !== 'application/json')
        throw new Fault('unsupported_media_type');
      const body = await readText(request);
      return issuer.issue({
        headers: request.headers,
        body,
        cookie: cookieOf(request),
        clientAddress: clientAddressOf(request, trustProxy),
      });
    }),
  );
  return router;
}
