import type { Output } from '../../contract/routes.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, usageError } from '../exit.ts';
import { requireOne } from '../find.ts';
import { requireConfirmation } from '../prompts.ts';
import { dayOf } from '../sites.ts';
import { records } from '../text.ts';

type Device = Output<'listDevices'>[number];

export const devicesList: CommandSpec = {
  usage: 'devices list',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the browsers and programs in which you are signed in, or remembered',
  examples: ['devices list', "devices list --json | jq -r '.[] | select(.current | not).id'"],
  json: '[{id,label,current,signedIn,createdAt,lastSeen}]',
  async run({ terminal, signedIn }) {
    const { client } = await signedIn();
    const devices = await client.listDevices({});
    const rows = devices.map(({ id, label, current, signedIn: isSignedIn, lastSeen }) => [
      label,
      current ? 'this one' : isSignedIn ? 'signed in' : 'remembered',
      dayOf(lastSeen),
      id,
    ]);
    terminal.result(devices, records(['DEVICE', 'STATUS', 'LAST SEEN', 'ID'], rows, terminal));
    return EXIT.ok;
  },
};

export const devicesRevoke: CommandSpec = {
  usage: 'devices revoke [device]',
  needs: 'sign-in',
  group: 'Account',
  summary: 'sign a device out and have it forget you, or all of them',
  about: 'You confirm it, or pass --yes. With --all you are signed out here as well, and the tokens of applications end.',
  flags: { '--all': 'every device, including this one' },
  examples: ['devices revoke "Firefox on Linux"', 'devices revoke q0r7LxUOTgaPq3uQn1v4mA --yes', 'devices revoke --all'],
  json: '{revoked:[{id,label}]}',
  async run(context, [given], { all = false }) {
    if (all === (given !== undefined)) throw usageError('Give a device or --all.', '`emailauth devices list` lists them.');
    const { terminal } = context;
    const { client } = await context.signedIn();
    const devices = await client.listDevices({});
    const revoked = all ? devices : [requireDevice(devices, given ?? '')];
    const [{ label, current }] = revoked;
    const ended = all ? 'Every device, including this one, is signed out' : `${label}${current ? ', this device,' : ''} is signed out`;
    await requireConfirmation(terminal, `${ended} and needs an email to sign in again. Go on?`);
    if (all) await client.signOutEverywhere({});
    else await client.signOutDevice({ id: revoked[0].id });
    if (revoked.some((device) => device.current)) await forgetOwnSignIn(context);
    terminal.result({ revoked: revoked.map((device) => ({ id: device.id, label: device.label })) }, `${ended}.`);
    return EXIT.ok;
  },
};

/** Removes the stored sign-in, which has ended at the service. */
async function forgetOwnSignIn({ credentials, host, signedIn }: Context): Promise<void> {
  const { caller } = await signedIn();
  if (caller.source === 'credentials') (await credentials()).remove(await host());
}

/** @throws CommandError device_not_found */
function requireDevice(devices: readonly Device[], text: string): Device {
  return requireOne(devices, text, {
    noun: 'device',
    code: 'device_not_found',
    list: 'devices list',
    namesOf: ({ id, label }) => [id, label],
    idOf: ({ id }) => id,
  });
}
