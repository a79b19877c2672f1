import type { TabProps } from './website-tabs.tsx';

/** The tab. */
export const StatsTab = ({ website }: TabProps) => <p>{website.domain}</p>;
