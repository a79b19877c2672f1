import type { TabProps } from './website-tabs.tsx';

/** The tab. */
export const SettingsTab = ({ website }: TabProps) => <p>{website.domain}</p>;
