import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { WebsiteTab } from '../../../contract/pages.ts';
import type { TabProps } from './queries.ts';

/** A page of a website. `path`: null for the website's own page; `unlisted`: another page leads to it. */
export type Tab = { path: WebsiteTab | null; label: string; unlisted?: true; Page: LazyExoticComponent<ComponentType<TabProps>> };

const tab = <Name extends string>(load: () => Promise<Record<Name, ComponentType<TabProps>>>, name: Name) =>
  lazy(async () => ({ default: (await load())[name] }));

/** The pages of a website, in the order of their links. */
export const tabs: readonly Tab[] = [
  { path: null, label: 'Statistics', Page: tab(() => import('./stats-tab.tsx'), 'StatsTab') },
  { path: 'log', label: 'Log', Page: tab(() => import('./log-tab.tsx'), 'LogTab') },
  { path: 'visitors', label: 'Visitors', Page: tab(() => import('./visitors-tab.tsx'), 'VisitorsTab') },
  { path: 'branding', label: 'Branding', Page: tab(() => import('./branding-tab.tsx'), 'BrandingTab') },
  { path: 'team', label: 'Team', Page: tab(() => import('./team-tab.tsx'), 'TeamTab') },
  { path: 'settings', label: 'Settings', Page: tab(() => import('./settings-tab.tsx'), 'SettingsTab') },
  { path: 'test', label: 'Test sign-in', unlisted: true, Page: tab(() => import('./test-tab.tsx'), 'TestTab') },
];
