import type { Step } from './steps.ts';

/** A sign-in and a logout end the sessions of a device, which they find by this index. */
export const steps: readonly Step[] = [{ index: 'sessions_device', table: 'sessions', definition: '(device)' }];
