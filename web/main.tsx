import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import '@fontsource-variable/geist/wght.css';
import './portal.css';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
