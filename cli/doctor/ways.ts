import type { Ways } from '../../diagnostics/website/look.ts';

/** What to do next, as commands. */
export const ways: Ways = {
  url: '--url',
  write: '`emailauth init` writes one.',
  signIn: 'Run `emailauth login`.',
  prove: (domain) => `emailauth sites verify ${domain}`,
  register: (domain) => `emailauth register ${domain}`,
};
