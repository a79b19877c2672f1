import { type Served, serve } from '../http/serve.ts';
import { presentAccount } from './account.ts';

export function accountRoutes(): Served[] {
  return [serve('me', (_, { account }) => presentAccount(account))];
}
