import { type Served, serve } from '../http/serve.ts';
import type { Figures } from './stats.ts';

export function statsRoutes(figures: Figures): Served[] {
  return [
    serve('websiteStats', (_, { account }) => figures.ofSites(account)),
    serve('overview', (_, { account }) => figures.overview(account)),
    serve('dailyLogins', () => figures.dailyLogins()),
  ];
}
