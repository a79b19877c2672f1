import { type Served, serve } from '../http/serve.ts';
import type { Status } from './status.ts';

export function statusRoutes(status: Status): Served[] {
  // A probe waits 5 s for a mail server.
  return [serve('status', () => status.read(), { mostSeconds: 10 })];
}
