import type { TabProps } from './website-tabs.tsx';

/** The tab. */
export const LogTab = ({ website }: TabProps) => <p>{website.domain}</p>;
