import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright';
import { TestRunner } from 'vitest';

// The headless shell first: it needs half the CPU time of a browser with windows.
const systemBrowsers = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts the first Chromium that works: CHROMIUM_PATH, or else of Playwright, the system or @sparticuz/chromium.
 * @throws Error with the errors of all and the command that installs one
 */
export async function launchBrowser(): Promise<Browser> {
  const faults: string[] = [];
  for (const { name, find } of candidates()) {
    try {
      const executablePath = await find();
      if (executablePath !== null) return await chromium.launch({ executablePath, args: quiet });
    } catch (error) {
      faults.push(`${name}: ${String(error).split('\n').slice(0, 3).join(' ')}`);
    }
  }
  throw new Error(
    ['Cannot start a browser. Run `npx playwright install --with-deps chromium`, or set CHROMIUM_PATH.', ...faults].join('\n'),
  );
}

let shared: Promise<Browser> | null = null;

/** How much of a page the report of a failed test has, in characters. */
const SHOWN_LENGTH = 2_000;

/** Returns what the pages of a context show, as a screen reader gets it. */
async function describePages(context: BrowserContext): Promise<string> {
  const shown = context.pages().map(async (page) => {
    const tree = await page.ariaSnapshot({ timeout: 5_000 }).catch((error: Error) => `It cannot be read: ${error.message}`);
    return `A page at ${page.url()}:\n${tree.slice(0, SHOWN_LENGTH)}`;
  });
  return (await Promise.all(shown)).join('\n');
}

/**
 * Opens separate cookies and storage in the browser that the test files of a worker share. Ends with the test that opens it, whose
 * error then says what its pages show; what opens it outside of a test closes it.
 */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  if (shared && !(await shared).isConnected()) shared = null;
  shared ??= launchBrowser();
  const context = await (await shared).newContext(options);
  context.setDefaultTimeout(45_000);
  TestRunner.getCurrentTest()?.context.onTestFinished(async ({ task }) => {
    const [error] = task.result?.errors ?? [];
    if (error) {
      const shown = `\n${await describePages(context)}`;
      error.message += shown;
      // The report of `npm test` has the stack, which begins with the former message.
      error.stack += shown;
    }
    // Pages that stay open continue to poll and to draw.
    await context.close();
  });
  return context;
}

/** Starts a browser of the system that keeps pages in the back-forward cache, which the headless shell does not have; null without one. */
export async function launchCachingBrowser(): Promise<Browser | null> {
  const executablePath = systemBrowsers.slice(1).find((path) => existsSync(path));
  return executablePath ? chromium.launch({ executablePath, args: quiet, ignoreDefaultArgs: ['--disable-back-forward-cache'] }) : null;
}

/** The oldest Chromium with the Email Verification Protocol. */
const FIRST_VERIFYING = 150;

/** Starts a browser of the system with more arguments; null when there is none, or it does not have the Email Verification Protocol. */
export async function launchVerifyingBrowser(args: readonly string[]): Promise<Browser | null> {
  const executablePath = systemBrowsers.slice(1).find((path) => existsSync(path));
  if (!executablePath) return null;
  const browser = await chromium.launch({ executablePath, args: [...quiet, ...args] });
  if (Number(browser.version().split('.')[0]) >= FIRST_VERIFYING) return browser;
  await browser.close();
  return null;
}

/** `find` returns the path of an executable, undefined for the one that Playwright selects, or null. */
function candidates(): { name: string; find(): Promise<string | undefined | null> }[] {
  const given = process.env.CHROMIUM_PATH;
  if (given) return [{ name: 'CHROMIUM_PATH', find: async () => given }];
  return [
    { name: "Playwright's Chromium", find: async () => undefined },
    ...systemBrowsers.map((path) => ({ name: path, find: async () => (existsSync(path) ? path : null) })),
    { name: '@sparticuz/chromium', find: packaged },
  ];
}

/**
 * Unpacks the Chromium of the package and, as on AWS Lambda, the libraries that a minimal Debian lacks.
 * The package's arguments are not used because they disable the same-origin policy.
 */
async function packaged(): Promise<string> {
  process.env.AWS_LAMBDA_JS_RUNTIME = 'nodejs20.x';
  const { default: packed } = await import('@sparticuz/chromium');
  return packed.executablePath();
}
