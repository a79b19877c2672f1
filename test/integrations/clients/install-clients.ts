/** Run before the tests of stock clients: installs the Debian packages that they need, where that is allowed, and names those that stay missing. */
import { apt, canInstall } from '../../support/apt.ts';
import { oidcAgent } from './oidc-agent.ts';
import { stockClients } from './stock-clients.ts';

const missing = () => [...stockClients, oidcAgent].filter(({ available }) => !available());

if (missing().length > 0 && canInstall && apt('update', '--error-on=any')) {
  // One at a time, since a package that this Debian lacks must not prevent the others.
  for (const { debianPackages = [] } of missing()) {
    console.log(`Installing ${debianPackages.join(' ')} …`);
    apt('install', '-y', '--no-install-recommends', ...debianPackages);
  }
}
for (const { name, debianPackages = [] } of missing()) {
  console.warn(`\n!! ${name} is skipped: on Debian, apt-get install ${debianPackages.join(' ')}\n`);
}
