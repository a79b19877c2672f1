import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright';

const systemBrowsers = [
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
  for (const candidate of candidates()) {
    try {
      const executablePath = await candidate.find();
      if (executablePath) return await chromium.launch({ executablePath, args: quiet });
    } catch (error) {
      faults.push(`${candidate.name}: ${String(error).split('\n').slice(0, 3).join(' ')}`);
    }
  }
  throw new Error(
    ['Cannot start a browser. Run `npx playwright install --with-deps chromium`, or set CHROMIUM_PATH.', ...faults].join('\n'),
  );
}

function candidates(): { name: string; find(): Promise<string | undefined> }[] {
  const given = process.env.CHROMIUM_PATH;
  if (given) return [{ name: 'CHROMIUM_PATH', find: async () => given }];
  return [
    { name: "Playwright's Chromium", find: async () => existing(chromium.executablePath()) },
    ...systemBrowsers.map((path) => ({ name: path, find: async () => existing(path) })),
    { name: '@sparticuz/chromium', find: packaged },
  ];
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
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
