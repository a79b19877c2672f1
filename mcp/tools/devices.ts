import { z } from 'zod';
import { Device } from '../../contract/account.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { refusal } from '../result.ts';
import { defineTool } from '../tool.ts';

export const listDevices = defineTool({
  name: 'list_devices',
  title: 'My devices',
  description:
    'Lists the browsers and programs in which the account is signed in or remembered, with the time of their last use; current is the sign-in of this session. Call it when the person suspects a foreign sign-in, or to find the id that sign_out_device takes. It needs the sign-in of a person, not an API key.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ devices: z.array(z.object(Device.shape)) }),
  run: async (_, { client }, signal) => ({ devices: await client.listDevices({}, { signal }) }),
  text: ({ devices }) =>
    devices
      .map(({ id, label, current, signedIn, lastSeen }) => {
        const state = current ? 'this session' : signedIn ? 'signed in' : 'remembered: one click signs in';
        return `${oneLine(label, 80)} (${id}): ${state}, last seen ${lastSeen}.`;
      })
      .join('\n'),
});

export const signOutDevice = defineTool({
  name: 'sign_out_device',
  title: 'Sign a device out',
  description:
    'Ends the sign-ins of the account in one browser or program, which then needs an email to sign in again. Call it only when the person asked for exactly this device, and repeat its label in confirmLabel. list_devices shows both. Signing out everywhere is left to the person: `emailauth devices revoke --all`.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    deviceId: z.string().trim().min(1).max(60).describe('Id of the device, as list_devices shows it'),
    confirmLabel: z.string().max(200).describe('The label of the device, as the person confirmed it'),
  }),
  output: z.object({ deviceId: z.string(), label: z.string(), signedOut: z.literal(true) }),
  async run({ deviceId, confirmLabel }, { client }, signal) {
    const device = (await client.listDevices({}, { signal })).find(({ id }) => id === deviceId);
    if (!device)
      throw refusal('device_not_found', `"${oneLine(deviceId, 60)}" is not the id of one of your devices.`, 'list_devices shows them.');
    if (confirmLabel.trim() !== device.label) {
      throw refusal(
        'confirmation_needed',
        'confirmLabel is not the label of this device, so nothing was ended.',
        'Ask the person whether this device is to be signed out, and only then repeat its label in confirmLabel.',
      );
    }
    await client.signOutDevice({ id: deviceId }, { signal });
    return { deviceId, label: device.label, signedOut: true as const };
  },
  text: ({ label }) => `${oneLine(label, 80)} is signed out.`,
});
