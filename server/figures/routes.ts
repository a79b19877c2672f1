import { type Served, serve } from '../http/serve.ts';
import type { Figures } from './figures.ts';

export function figureRoutes(figures: Figures): Served[] {
  return [
    serve('websiteFigures', (_, { account }) => figures.ofSites(account)),
    serve('overview', (_, { account }) => figures.overview(account)),
    serve('dailyLogins', () => figures.dailyLogins()),
  ];
}
