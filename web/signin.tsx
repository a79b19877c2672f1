import { createRoot } from 'react-dom/client';
import { readBoot } from './features/signin/boot.ts';
import { SignInApp } from './signin-app.tsx';
import '@fontsource-variable/geist/wght.css';
import './signin.css';

const root = document.getElementById('root');
if (root) createRoot(root).render(<SignInApp boot={readBoot()} />);
