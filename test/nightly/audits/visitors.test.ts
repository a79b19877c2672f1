import { auditStops } from './audit.ts';

auditStops(({ who }) => who === 'visitor' || who === 'returning');
