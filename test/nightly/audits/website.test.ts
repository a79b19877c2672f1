import { auditStops } from './audit.ts';

auditStops(({ name }) => name.startsWith('website-'));
