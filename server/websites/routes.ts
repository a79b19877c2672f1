import { type Served, serve } from '../http/serve.ts';
import type { Websites } from './websites.ts';

export function websiteRoutes(websites: Websites): Served[] {
  return [
    serve('registerWebsite', (input, caller) => websites.register(input, caller.clientAddress)),
    serve('findWebsite', ({ domain }) => websites.find(domain)),
    serve('listWebsites', (_, { account }) => websites.list(account)),
    serve('createWebsite', (input, { account }) => websites.create(account, input)),
    serve('updateWebsite', (input, { account }) => websites.update(account, input)),
    serve('deleteWebsite', ({ id }, { account }) => websites.delete(account, id)),
    serve('claimWebsite', ({ domain }, { account }) => websites.claim(account, domain)),
    // Name servers and sites may take their time.
    serve('proveWebsite', (input, { account }) => websites.prove(account, input), { timeoutSeconds: 15 }),
  ];
}
