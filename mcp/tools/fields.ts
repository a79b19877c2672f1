import { z } from 'zod';
import { Email, VerifyRequest } from '../../contract/signin.ts';
import { DomainInput } from '../../contract/websites.ts';

/** Input and output fields that several tools share. */
export const Domain = DomainInput.shape.domain.describe(
  'Root domain of the website, such as shop.example; https://www.shop.example/page is read as shop.example',
);

export const OwnDomain = DomainInput.shape.domain.describe('Domain of one of your own websites, as list_sites shows it');

export const Address = Email.describe('One email address, such as ann@shop.example');

export const Token = VerifyRequest.shape.token.describe('The token parameter that the callback received');

export const NextSteps = z.array(z.string()).describe('What to do next, in order');
