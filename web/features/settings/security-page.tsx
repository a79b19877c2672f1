import type { ReactNode } from 'react';
import { paths } from '../../pages.ts';
import { SettingsHeading, SettingsSection } from './frame.tsx';

/** /dashboard/settings/security. @param devices, passkeys, connections lists of other features */
export function SecurityPage({ devices, passkeys, connections }: { devices: ReactNode; passkeys: ReactNode; connections: ReactNode }) {
  return (
    <>
      <SettingsHeading current={paths.settingsSecurity} />
      <SettingsSection title="Devices" text="Where you are signed in, or remembered so that one click signs you in.">
        {devices}
      </SettingsSection>
      <SettingsSection title="Passkeys" text="They sign you in without an email, with the lock of your device.">
        {passkeys}
      </SettingsSection>
      <SettingsSection
        title="Connected applications"
        text="Applications and websites that you signed in to, and what you allowed them. To end their access, revoke it."
      >
        {connections}
      </SettingsSection>
    </>
  );
}
