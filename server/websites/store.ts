import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import { MAX_UNPROVEN_WEBSITES } from '../../contract/limits.ts';
import { LEASE_SECONDS, type MailKind } from '../mail/mail.ts';
import { beginChange, type ProofSource, requireProof } from '../permissions/proofs.ts';
import { notBeingSignedOut } from '../permissions/sign-outs.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { inTransaction, type Query } from '../platform/db/database.ts';
import { LOCK_BY_NAME } from '../platform/db/locks.ts';
import type { Website } from '../platform/db/models.ts';
import { newChallenge, type ProofKind } from './proof.ts';

const COUNT = `select count(*)::int as count from websites
  where email = $1 and proven_at is null and not (registered_by_others and $2) and id is distinct from $3::uuid`;

/** Returns a statement that adds a row of what was done to a website, which is in a CTE. */
const added = (action: string) => addActivity({ action: `'${action}'`, email: 'email', domain: 'domain', websiteId: 'id' }, 'website');

const REGISTER = `
with website as (
  insert into websites (id, domain, email, registered_by_others) values ($1, $2, $3, true) on conflict (domain) do nothing returning id, email, domain
)
${added('website_registered')} returning id`;

// Websites are locked before claims, as in every other transaction, so that no two of them deadlock.
const RELEASE = `
with website as (
  delete from websites where ctid = any(array(
    select ctid from websites where claimed_at is null and email is not null and created_at < now() - make_interval(days => $1)
    order by created_at limit $2 for update skip locked))
  returning id, email, domain
),
audit as (${added('website_released')}),
ended_claims as (delete from domain_claims c using website where c.email = website.email and c.domain = website.domain)
select count(*)::int from website`;

/**
 * Checks that an address may have one more unproven website. Other transactions that check the same wait for the end of this one, so
 * that the number is exact.
 * @param query runs in a transaction
 * @param options.onlyOwn counts only websites that the owner added: anyone can register domains to any address, which must not use up what
 * its owner may add
 * @param options.except id of a website that is not counted, because it is being changed
 * @throws Fault too_many
 */
export async function checkUnprovenLimit(query: Query, email: string, options: { onlyOwn: boolean; except?: string }): Promise<void> {
  await query(LOCK_BY_NAME, [`unproven websites ${email}`]);
  const { rows } = await query(COUNT, [email, options.onlyOwn, options.except ?? null]);
  const [{ count }] = rows as { count: number }[];
  if (count < MAX_UNPROVEN_WEBSITES) return;
  const message = `There are ${MAX_UNPROVEN_WEBSITES} websites with an unverified domain for this address, the maximum. Verify a domain, or delete one of them.`;
  throw new Fault('too_many', { message });
}

/** Adds a website on probation. @param query runs in a transaction @returns false when the domain is taken */
export async function registerWebsite(query: Query, website: { id: string; domain: string; email: string }): Promise<boolean> {
  const { id, domain, email } = website;
  return (await query(REGISTER, [id, domain, email])).rows.length === 1;
}

/** Deletes websites whose linked address never signed in. @param query a connection of the scheduled jobs @returns how many of at most `limit` */
export async function releaseUnclaimed(query: Query, afterDays: number, limit: number): Promise<number> {
  const { rows } = await query(RELEASE, [afterDays, limit]);
  return (rows[0] as { count: number }).count;
}

/** What is shown of a website. */
export type WebsiteRecord = Pick<
  Website,
  'id' | 'domain' | 'email' | 'claimedAt' | 'provenAt' | 'registeredByOthers' | 'icon' | 'createdAt'
>;

/** A proof that was found for this challenge. */
type Claim = {
  id: string;
  domain: string;
  email: string;
  challenge: string;
  kind: ProofKind;
  /** The account that made the service search the proof, and the proof of its address. */
  claimant: Parameters<typeof beginChange>[1];
  source: ProofSource | null;
};

/** A pending email of this transaction. */
type PendingMail = { id: string; kind: MailKind; recipient: string };

/**
 * `granted`: with the emails to send. `dns_needed`: another address proved the domain, and a file does not outweigh that.
 * `outdated`: the challenge was replaced after the search for the proof began.
 */
type ClaimResult = { status: 'granted'; website: WebsiteRecord; mails: PendingMail[] } | { status: 'dns_needed' | 'outdated' };

type Challenge = { domain: string; challenge: string };

const MAX_ATTEMPTS = 5;

const FIND = 'select domain, challenge from domain_claims where email = $1 and domain = any($2::text[])';

// The update changes nothing; it makes the statement return the row of a concurrent call too. Nothing is inserted for an address that was
// erased since the caller was identified.
const CREATE = `
insert into domain_claims (email, domain, challenge)
select $1, domain, challenge from unnest($2::text[], $3::text[]) as created (domain, challenge)
where (exists (select from users where email = $1) or exists (select from websites where email = $1)) and ${notBeingSignedOut('$1')}
order by domain
on conflict (domain, email) do update set challenge = domain_claims.challenge
returning domain, challenge`;

const HOLDER = 'select id, email, proven_at as "provenAt" from websites where domain = $1 for update';
const IS_CURRENT = 'select 1 as valid from domain_claims where domain = $1 and email = $2 and challenge = $3 for update';
const END_OTHERS = 'delete from domain_claims where domain = $1 and email <> $2';

/** Returns a statement that changes a website, writes its audit row and returns the website. */
const audited = (change: string, action: string) =>
  `with website as (${change} returning *),
   audit as (${added(action)})
   select id, domain, email, claimed_at as "claimedAt", proven_at as "provenAt", registered_by_others as "registeredByOthers", icon, created_at as "createdAt" from website`;

const REMOVE = audited('delete from websites where id = $1', 'website_lost');
const CONFIRM = audited('update websites set proven_at = now(), claimed_at = coalesce(claimed_at, now()) where id = $1', 'website_proven');
const ADD = audited(
  'insert into websites (id, domain, email, claimed_at, proven_at) values ($1, $2, $3, now(), now()) on conflict (domain) do nothing',
  'website_proven',
);

const ADD_MAIL = `
insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
values ($1, $2, $3, 'en', jsonb_build_object('domain', $4::text), now() + make_interval(secs => $5), now() + interval '2 days')`;

/** Returns the challenge of a claim, or null when there is none. */
export async function findChallenge(core: pg.Pool, email: string, domain: string): Promise<string | null> {
  return (await core.query<Challenge>({ name: 'claims-find', text: FIND, values: [email, [domain]] })).rows[0]?.challenge ?? null;
}

/**
 * Returns the challenges of an address by domain, and creates missing ones; concurrent calls get the same ones. A challenge stays the
 * same until the address loses the domain.
 * @throws Fault unavailable while the address is being signed out or erased
 */
export async function obtainChallenges(core: pg.Pool, email: string, domains: readonly string[]): Promise<Map<string, string>> {
  if (domains.length === 0) return new Map();
  const { rows } = await core.query<Challenge>({ name: 'claims-find', text: FIND, values: [email, domains] });
  const challenges = new Map(rows.map(({ domain, challenge }) => [domain, challenge]));
  const missing = domains.filter((domain) => !challenges.has(domain));
  if (missing.length === 0) return challenges;
  const values = [email, missing, missing.map(newChallenge)];
  const created = await core.query<Challenge>({ name: 'claims-create', text: CREATE, values });
  if (created.rows.length < missing.length) throw new Fault('unavailable', { retryAfter: 2 });
  for (const { domain, challenge } of created.rows) challenges.set(domain, challenge);
  return challenges;
}

/** Gives a proven domain to its claimant. What belonged to another address's website is deleted with it. @throws Fault proof_needed, sign_in_needed */
export async function grantDomain(core: pg.Pool, claim: Claim, newMailId: () => string): Promise<ClaimResult> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const result = await grantOnce(core, claim, newMailId);
    if (result) return result;
  }
  throw new Error(`${claim.domain} is registered again and again`);
}

/** @returns null when a registration came first, whose website the next attempt replaces */
function grantOnce(core: pg.Pool, claim: Claim, newMailId: () => string): Promise<ClaimResult | null> {
  const { id, domain, email, challenge, kind, claimant, source } = claim;
  return inTransaction(core, async (query, plain) => {
    await beginChange(plain, claimant);
    // One claimant at a time. Registrations do not take this lock, so one may still come between the next statement and the insert.
    await query('claims-lock', LOCK_BY_NAME, [`claim ${domain}`]);
    const [holder] = await query<Pick<Website, 'id' | 'email' | 'provenAt'>>('claims-holder', HOLDER, [domain]);
    const isHolder = holder?.email === email;
    if (holder && !isHolder) await requireProof(plain, claimant, source);
    if (holder?.provenAt && !isHolder && kind !== 'dns') return { status: 'dns_needed' };
    if ((await query('claims-is-current', IS_CURRENT, [domain, email, challenge])).length === 0) return { status: 'outdated' };
    const isNew = !isHolder || !holder.provenAt;
    // The challenges of all other addresses are older than this proof: a record of theirs that still exists must not prove anything.
    if (isNew) await query('claims-end-others', END_OTHERS, [domain, email]);
    const mails: PendingMail[] = [];
    if (isNew) mails.push({ id: newMailId(), kind: 'domain_proven', recipient: email });
    if (holder && !isHolder) {
      await query('claims-remove', REMOVE, [holder.id]);
      if (holder.email) mails.push({ id: newMailId(), kind: 'domain_lost', recipient: holder.email });
    }
    const [website] = isHolder
      ? await query<WebsiteRecord>('claims-confirm', CONFIRM, [holder.id])
      : await query<WebsiteRecord>('claims-add', ADD, [id, domain, email]);
    // A registration was committed after the holder was read, so there was no holder, and nothing of it was deleted.
    if (!website) return null;
    for (const mail of mails) await query('claims-mail', ADD_MAIL, [mail.id, mail.kind, mail.recipient, domain, LEASE_SECONDS]);
    return { status: 'granted', website, mails };
  });
}
