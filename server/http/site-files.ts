import { Router } from 'express';
import type { WebApp } from './pages.ts';

const ROBOTS = `User-agent: *
Disallow: /auth/link
Disallow: /auth/callback
Disallow: /legacy-auth
Disallow: /objects
Disallow: /api
`;

/** /robots.txt (RFC 9309) and /manifest.webmanifest. */
export function siteFiles({ headers, icon }: Pick<WebApp, 'headers' | 'icon'>): Router {
  const manifest = {
    name: 'Email Auth',
    short_name: 'Email Auth',
    start_url: '/developer',
    display: 'standalone',
    background_color: '#fcfcfb',
    theme_color: '#fcfcfb',
    icons: [{ src: icon, sizes: 'any', type: 'image/svg+xml' }],
  };
  const router = Router();
  router.get('/robots.txt', headers, (_, response) => void response.type('text/plain').send(ROBOTS));
  router.get('/manifest.webmanifest', headers, (_, response) => void response.type('application/manifest+json').json(manifest));
  return router;
}
