import type { Page } from 'playwright';

/**
 * `visitor`: not signed in; `returning`: a visitor with remembered accounts; `newcomer`: a new account without data; `publisher`: an account
 * with many websites; `developer`: an account with websites, keys, statistics and an admin session.
 */
export type Who = 'visitor' | 'returning' | 'newcomer' | 'publisher' | 'developer';

/** One state of one page. `open` navigates a new page of that person's browser there and waits until it is loaded. */
export type Stop = { name: string; who: Who; open(page: Page): Promise<void> };

/** Returns the stop at a path of the service, which is loaded when it has a heading. `act`: what is done there. */
export type StopAt = (who: Who, path: string, name: string, heading: string, act?: (page: Page) => Promise<unknown>) => Stop;
