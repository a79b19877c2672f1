import type { Output } from '../../contract/routes.ts';
import { maskEmail } from '../../contract/rules.ts';
import { ERASED } from '../visitors/erased.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { explain } from './explanations.ts';
import type { Merged } from './merge.ts';

type Event = Output<'websiteEvents'>['events'][number];

/**
 * Returns events as those who manage their websites see them. Anyone can register a domain, and could learn here who is invited to sign
 * in to it: so addresses are masked until it is proven, except in local mode.
 */
export function presentEvents(rows: Merged['rows'], { isLocal }: { isLocal: boolean }): Event[] {
  return rows.map(({ key, at, domain, application, kind, reason, email, count, isOpenId, proven }) => ({
    id: key,
    at: at.toISOString(),
    domain,
    name: application ?? displayDomainOf(domain),
    kind,
    reason,
    email: email === null || email === ERASED || proven || isLocal ? email : maskEmail(email),
    ...explain(kind, reason, isOpenId),
    count,
  }));
}
