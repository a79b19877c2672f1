import type pg from 'pg';
import type { WebsiteRecord } from './claims-store.ts';
import { managedBy } from './managers.ts';

const NAMES = `select id, domain from websites w where ${managedBy('w', '$1')} order by created_at desc, id desc`;

const READ = `
select id, domain, email, claimed_at as "claimedAt", proven_at as "provenAt", icon, created_at as "createdAt"
from websites w where id = any($2::uuid[]) and ${managedBy('w', '$1')}`;

/** Returns the websites that an address manages, newest first. */
export async function findNames(core: pg.Pool, email: string): Promise<{ id: string; domain: string }[]> {
  return (await core.query({ name: 'websites-names', text: NAMES, values: [email] })).rows;
}

/** Returns those of the given websites that an address manages, in any order. */
export async function readWebsites(core: pg.Pool, email: string, ids: string[]): Promise<WebsiteRecord[]> {
  return (await core.query<WebsiteRecord>({ name: 'websites-read', text: READ, values: [email, ids] })).rows;
}
