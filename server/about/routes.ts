import type { Output } from '../../contract/routes.ts';
import { type Served, serve } from '../http/serve.ts';

export function aboutRoutes(about: () => Output<'about'>): Served[] {
  return [serve('about', about)];
}
