import type { Page } from 'playwright';

/** Returns the names of the ways to turn a text into markup, a script or a policy that the page does not block. */
export const openSinks = (page: Page) =>
  page.evaluate<string[]>(`Object.entries({
    innerHTML: () => { document.createElement('div').innerHTML = '<img src=x onerror=alert(1)>'; },
    insertAdjacentHTML: () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'),
    parseFromString: () => new DOMParser().parseFromString('<b>x</b>', 'text/html'),
    scriptSource: () => { document.createElement('script').src = '/assets/x.js'; },
    createPolicy: () => trustedTypes.createPolicy('default', {}),
  }).flatMap(([name, open]) => {
    try {
      open();
      return [name];
    } catch (error) {
      return error instanceof TypeError ? [] : [name + ': ' + error];
    }
  })`);
