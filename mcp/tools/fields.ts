import { z } from 'zod';
import { Email, VerifyRequest } from '../../contract/signin.ts';
import { DomainInput } from '../../contract/websites.ts';

/** The domain of a site. */
export const Domain = DomainInput.shape.domain.describe('Root domain of the site, such as shop.example: no protocol, no path');

/** The domain of a site of the caller's own. */
export const OwnDomain = DomainInput.shape.domain.describe('Domain of one of your own sites, as list_sites shows it');

export const Address = Email.describe('One email address, such as ann@shop.example');

export const Token = VerifyRequest.shape.token.describe('What the callback was given as its token parameter');

/** Steps that are left to do, in order. */
export const NextSteps = z.array(z.string()).describe('What to do next, in order');
