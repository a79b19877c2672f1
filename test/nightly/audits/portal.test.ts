import { auditStops } from './audit.ts';

auditStops(({ who, name }) => who !== 'visitor' && who !== 'returning' && !name.startsWith('website-'));
