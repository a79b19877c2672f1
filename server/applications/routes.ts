import { type Served, serve } from '../http/serve.ts';
import type { Applications } from './applications.ts';

export function applicationRoutes(applications: Applications): Served[] {
  return [
    serve('listClients', (_, { account }) => applications.list(account)),
    serve('createClient', (input, { account }) => applications.create(account, input)),
    serve('updateClient', (input, { account }) => applications.update(account, input)),
    serve('deleteClient', ({ id }, { account }) => applications.delete(account, id)),
    serve('clientLogs', ({ id }, { account }) => applications.logs(account, id)),
  ];
}
