import type { Page } from 'playwright';

/** `visitor`: not signed in; `newcomer`: a new account without data; `developer`: an account with websites, keys, statistics and an admin session. */
export type Who = 'visitor' | 'newcomer' | 'developer';

/** One state of one page. `open` navigates a new page of that person's browser there and waits until it is loaded. */
export type Stop = { name: string; who: Who; open(page: Page): Promise<void> };

/** Returns a stop at a path: waits for a heading, runs `act`, and waits until the network is idle. */
export type StopAt = (who: Who, path: string, name: string, title: string, act?: (page: Page) => Promise<unknown>) => Stop;

/** Returns an action that clicks the first button with a name. */
export const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

/** Returns an action that opens a dialog with a button. */
export const dialog = (name: string | RegExp) => async (page: Page) => {
  await click(name)(page);
  await page.getByRole('dialog').waitFor();
};
