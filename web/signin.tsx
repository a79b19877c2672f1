import './signin.css';
import { hydrateRoot } from 'react-dom/client';
import { BOOT_ELEMENT } from '../contract/pages.ts';
import { SignInApp } from './features/signin/app.tsx';
import { keepTyped } from './features/signin/steps.ts';

// Takes over the HTML that the service rendered by the same data (signin-server.tsx).
const root = document.getElementById('root');
const boot = document.getElementById(BOOT_ELEMENT)?.textContent;
if (root && boot) {
  keepTyped(root);
  hydrateRoot(root, <SignInApp boot={JSON.parse(boot)} />);
  document.documentElement.dataset.script = 'running';
}
