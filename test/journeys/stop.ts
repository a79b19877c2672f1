import type { Page } from 'playwright';

/** `visitor`: not signed in; `newcomer`: a new account without data; `developer`: an account with websites, keys, statistics and an admin session. */
export type Who = 'visitor' | 'newcomer' | 'developer';

/** One state of one page. `open` navigates a new page of that person's browser there and waits until it is loaded. */
export type Stop = { name: string; who: Who; open(page: Page): Promise<void> };
