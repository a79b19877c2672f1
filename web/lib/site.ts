import { createContext, useContext } from 'react';
import { hasInbox, isLocalMode } from './local-mode.ts';

/** The installation that a page belongs to. */
export type Site = {
  /** Of the service. */
  origin: string;
  /** The service runs in local mode. */
  isLocal: boolean;
  /** Emails stay in the built-in inbox. */
  hasInbox: boolean;
};

/** What the service renders a page for (web/static-server.tsx); in a browser, what the page is from. */
export const SiteContext = createContext<Site>({ origin: globalThis.location?.origin ?? '', isLocal: isLocalMode, hasInbox });

export const useSite = (): Site => useContext(SiteContext);
