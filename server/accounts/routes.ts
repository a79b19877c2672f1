import { bearerOf } from '../http/identity.ts';
import { type Caller, type Served, serve } from '../http/serve.ts';
import { type Accounts, presentAccount } from './accounts.ts';
import { clearSession } from './browser.ts';
import type { Devices } from './devices.ts';

export function accountRoutes(accounts: Accounts, devices: Devices): Served[] {
  return [
    serve('me', (_, { account }) => presentAccount(account)),
    serve('settings', (_, { account }) => accounts.settings(account)),
    serve('saveProfile', (input, { account }) => accounts.saveProfile(account, input)),
    serve('saveOrganisation', (input, { account }) => accounts.saveOrganisation(account, input)),
    serve('saveBranding', (input, { account }) => accounts.saveBranding(account, input)),
    serve('auditLogs', ({ limit }, { account }) => accounts.auditLogs(account, limit)),
    serve('waitlist', (_, { account }) => accounts.waitlist(account)),
    serve('joinWaitlist', (input, { account }) => accounts.joinWaitlist(account, input)),
    serve('listDevices', (_, caller) => devices.list(caller.account, sessionOf(caller))),
    serve('signOutDevice', ({ id }, { account }) => devices.signOut(account, id)),
    serve('signOutEverywhere', async (_, { account, cookies }) => {
      const done = await devices.signOutEverywhere(account);
      clearSession(cookies);
      return done;
    }),
  ];
}

/** The session that a person's call came with. */
function sessionOf({ header, cookies }: Pick<Caller, 'header' | 'cookies'>): string {
  return bearerOf(header('authorization')) ?? cookies.get('sid') ?? '';
}
