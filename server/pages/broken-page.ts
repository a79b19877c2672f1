import type { ServerResponse } from 'node:http';
import { languageOf } from '../../contract/languages.ts';
import type { SignInPage } from '../../contract/pages.ts';
import type { DescribeError } from '../http/errors.ts';
import type { Listener } from '../http/listener.ts';
import { queryOf } from '../http/reading.ts';
import { requestIdOf } from '../http/request-record.ts';

type Parts = {
  describeError: DescribeError;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
};

/** Returns a listener of a sign-in page that sends a page for an error of the service, and rejects with any other error. */
export function withBrokenPage(listener: Listener, { describeError, sendPage }: Parts): Listener {
  return async (request, response, params) => {
    try {
      await listener(request, response, params);
    } catch (error) {
      const { fault, body } = describeError(error, undefined, requestIdOf(request));
      if (fault.status < 500 || response.headersSent) throw error;
      if (fault.retryAfter) response.setHeader('Retry-After', String(fault.retryAfter));
      const broken = { code: fault.code, reference: body.reference };
      sendPage(response, { language: languageOf(queryOf(request).language), target: { kind: 'portal' }, broken }, fault.status);
    }
  };
}
