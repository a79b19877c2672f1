/** A program that reports whether a browser for the journeys starts on this machine. */
import { launchBrowser } from './browser.ts';

try {
  const browser = await launchBrowser();
  console.log(`Chromium ${browser.version()}`);
  await browser.close();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
