import { BOOT_ELEMENT, type SignInBoot } from '../../../contract/pages.ts';

/** What the service wrote into the page. */
export function readBoot(): SignInBoot {
  return JSON.parse(document.getElementById(BOOT_ELEMENT)?.textContent ?? '');
}
