import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { mailboxOf, readEmail } from '../../contract/emails.ts';
import { Fault } from '../../contract/errors.ts';
import { raiseGenerations } from '../permissions/conditions.ts';
import { BEGIN_SIGN_OUT } from '../permissions/sign-outs.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { readSchemaState } from '../platform/db/migrate.ts';
import { startOf } from '../platform/db/row-numbers.ts';
import { StartError } from '../platform/start-error.ts';
import { ERASED } from '../websites/visits.ts';

/** What to do with the websites that the address owns. */
type Erasure = {
  /** The address, in any form that people type. */
  address: string;
  /** Domains of its websites to delete. */
  deleted: string[];
  /** The address that gets its other websites; null: there must be none. */
  heir: string | null;
};

/** How many rows of each table contain the address. */
type ErasedRows = Record<string, number>;

type Statement = [table: string, text: string];

const LOCK_MS = 2_000;
/**
 * How long an erasure waits for the lock of the whole audit log: sign-ins queue behind it meanwhile, and fail after 2.2 s.
 * Shorter than PostgreSQL's deadlock_timeout (1 s), so that a deadlock cancels the erasure and never a sign-in.
 */
const AUDIT_LOG_LOCK_MS = 300;
const RETRY_MS = 500;
const MAX_TRIES = 30;
/** SQLSTATEs of a lock that was not granted in time, and of a deadlock. */
const RETRIED = ['55P03', '40P01'];
/** SQLSTATE insufficient_privilege. */
const NOT_OWNER = '42501';

// $1 the address, $2 its mailbox (contract/emails.ts), $3 domains to delete, $4 the address that gets the other websites,
// $5 what replaces the address in the activity log. Each statement is preceded by all parameters as `given`. Attempts are deleted before their emails, as in other transactions.
const GIVEN = 'given as (select $1::text as email, $2::text as mailbox, $3::text[] as deleted, $4::text as heir, $5::text as erased)';
/** Whether a JSON text contains the address as a whole value. */
const contains = (json: string) => `strpos(${json}::text, to_json(given.email)::text) > 0`;

const STATEMENTS: Statement[] = [
  ['sign_in_attempts', 'delete from sign_in_attempts a using given where a.email = given.email'],
  ['outbox', `delete from outbox o using given where recipient = email or ${contains('o.data')}`],
  ['tokens', 'delete from tokens t using given where t.email = given.email'],
  ['passkeys', 'delete from passkeys p using given where p.email = given.email'],
  ['remembered_keys', 'delete from remembered_keys k using given where k.email = given.email'],
  [
    'oidc_records',
    `delete from oidc_records r using given where r.email = given.email or ${contains('r.payload')}
      or r.grant_id in (select id from oidc_records own where own.email = given.email and own.kind = 'Grant')`,
  ],
  ['website_visitors', 'delete from website_visitors v using given where v.email = given.email'],
  [
    'website_erasures',
    "delete from website_erasures e using given where hash = sha256(convert_to(e.website::text || ' ' || email, 'UTF8'))",
  ],
  ['website_recipients', 'delete from website_recipients r using given where r.mailbox in (given.mailbox, given.email)'],
  ['sign_in_steps', 'update sign_in_steps s set email = erased from given where s.email = given.email'],
  ['domain_claims', 'delete from domain_claims c using given where c.email = given.email'],
  ['waitlist', 'delete from waitlist w using given where w.email = given.email'],
  [
    'rate_limits',
    `delete from rate_limits l using given
     where right(' ' || key, length(mailbox) + 1) = ' ' || mailbox or right(' ' || key, length(email) + 1) = ' ' || email`,
  ],
  [
    'websites deleted',
    `, gone as (delete from websites w using given where w.email = given.email and domain = any(deleted) returning id, domain)
     ${addActivity({ action: "'website_deleted'", domain: 'domain', websiteId: 'id' }, 'gone')}`,
  ],
  [
    'websites transferred',
    `, moved as (update websites w set email = heir from given where w.email = given.email returning id, domain)
     ${addActivity({ action: "'website_transferred'", email: 'heir', domain: 'domain', websiteId: 'id' }, 'moved, given')}`,
  ],
  ['website_members', 'delete from website_members m using given where m.email = given.email'],
  [
    'invitations',
    'update website_members m set invited_by = w.email from websites w, given where w.id = m.website_id and invited_by = given.email',
  ],
  ['heir', 'delete from website_members m using websites w, given where w.id = m.website_id and w.email = heir and m.email = heir'],
  ['api_keys', 'delete from api_keys k using users u, given where k.user_id = u.id and u.email = given.email'],
  ['applications', 'delete from applications a using users u, given where a.user_id = u.id and u.email = given.email'],
  ['sessions', 'delete from sessions s using users u, given where s.user_id = u.id and u.email = given.email'],
  ['users', 'delete from users u using given where u.email = given.email'],
];

/** Locks the row that ADD_VISITS of websites/visits.ts locks, so that no visitor is added again meanwhile. */
const STOP_ROLL_UP = 'update visitor_roll_up set erasures = erasures + 1';

const RAISE_GENERATION = raiseGenerations('(select $1::text as email) account');

/** The number before the first row of the audit log whose transaction may not have ended yet. No transaction of the service takes a minute. */
const FIRST_UNSETTLED = startOf('audit_log', "now() - interval '1 minute'");

/**
 * Erases an address from all tables in one transaction, with an audit row that does not name it. Rows of the audit log stay, under a
 * random name in place of the address; only the owner of the table may change them. Without a row nothing is changed. What was issued
 * before is worth nothing afterwards, so that only a new request for an email brings the address back.
 * @param client a connection of its own, without time-outs
 * @param options.dryRun only counts, and changes nothing
 * @returns how many rows contained it, by table
 * @throws StartError when there is no database of Email Auth
 * @throws Fault bad_email, bad_request, websites_undecided; not_table_owner when the audit log belongs to another role
 */
export async function eraseAddress(client: pg.ClientBase, erasure: Erasure, options: { dryRun: boolean }): Promise<ErasedRows> {
  if ((await readSchemaState(client)).migrations.length === 0)
    throw new StartError('There is no Email Auth database. Check DATABASE_URL and DATA_DIR.');
  const [email, heir] = [requireAddress(erasure.address), erasure.heir === null ? null : requireAddress(erasure.heir)];
  if (email === heir) {
    const message = 'The websites cannot go to the address that is erased. Give another address.';
    throw new Fault('bad_request', { field: 'transferTo', message });
  }
  for (let tries = 1; ; tries++) {
    await client.query('begin');
    try {
      await client.query(`set local lock_timeout = ${LOCK_MS}`);
      // First of all: what is being issued to the account, or changed by it, is committed before the rows are read, or not done any more.
      await client.query(BEGIN_SIGN_OUT, [email]);
      await requireDecisions(client, email, erasure);
      const erased = `${ERASED}-${randomBytes(8).toString('hex')}`;
      const rows = await eraseRows(client, { email, heir, deleted: erasure.deleted, erased });
      const isKnown = Object.values(rows).some((count) => count > 0);
      rows.audit_log = await replaceInAuditLog(client, { email, erased }, { ...options, isKnown });
      const found = Object.fromEntries(Object.entries(rows).filter(([, count]) => count > 0));
      const erases = !options.dryRun && Object.keys(found).length > 0;
      if (erases) {
        await client.query(RAISE_GENERATION, [email]);
        await client.query(addActivity({ action: "'address_erased'" }));
      }
      await client.query(erases ? 'commit' : 'rollback');
      return found;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      const { code } = Object(error);
      if (code === NOT_OWNER) throw new Fault('not_table_owner');
      if (tries === MAX_TRIES || !RETRIED.includes(String(code))) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function requireAddress(text: string): string {
  const email = readEmail(text);
  if (!email) throw new Fault('bad_email', { message: `${text} is not a valid address. Give one such as ann@example.com.` });
  return email;
}

/** @throws Fault that lists the websites for which nothing was decided, or the domains that are not of the address */
async function requireDecisions(client: pg.ClientBase, email: string, { deleted, heir }: Erasure): Promise<void> {
  const { rows } = await client.query<{ domain: string }>('select domain from websites where email = $1 order by domain for update', [
    email,
  ]);
  const owned = rows.map(({ domain }) => domain);
  const unknown = deleted.filter((domain) => !owned.includes(domain));
  if (unknown.length > 0) {
    const message = `The address does not own ${unknown.join(', ')}. Its websites: ${owned.join(', ') || 'none'}.`;
    throw new Fault('bad_request', { field: 'deleteWebsites', message });
  }
  const left = owned.filter((domain) => !deleted.includes(domain));
  if (left.length === 0 || heir !== null) return;
  throw new Fault('websites_undecided', { message: `The address owns ${left.join(', ')}.` });
}

async function eraseRows(
  client: pg.ClientBase,
  { email, heir, deleted, erased }: { email: string; heir: string | null; deleted: string[]; erased: string },
) {
  const counts: ErasedRows = {};
  await client.query(STOP_ROLL_UP);
  for (const [table, text] of STATEMENTS) {
    const { rowCount } = await client.query(`with ${GIVEN}${text.startsWith(',') ? '' : ' '}${text}`, [
      email,
      mailboxOf(email),
      deleted,
      heir,
      erased,
    ]);
    counts[table] = rowCount ?? 0;
  }
  return counts;
}

/** Sets the columns of a row of the audit log that have the address $1 to $2. */
const REPLACED = ['email', 'actor', 'object'].map((column) => `${column} = case when ${column} = $1 then $2 else ${column} end`).join(', ');

/**
 * Replaces the address in the audit log. Its rows are found before the triggers are disabled, because the lock for that keeps sign-ins
 * waiting until the end of the transaction. An address that no table contains needs no lock.
 * @param options.isKnown whether another table contains the address, of which a row may be added meanwhile
 */
async function replaceInAuditLog(
  client: pg.ClientBase,
  { email, erased }: { email: string; erased: string },
  { dryRun, isKnown }: { dryRun: boolean; isKnown: boolean },
): Promise<number> {
  const [{ start }] = (await client.query<{ start: number }>(FIRST_UNSETTLED)).rows;
  const found = await client.query<{ ids: string[] }>(
    `select coalesce(array_agg(id), '{}')::text[] as ids from audit_log where $1 in (email, actor, object)`,
    [email],
  );
  const [{ ids }] = found.rows;
  if (dryRun || (ids.length === 0 && !isKnown)) return ids.length;
  await client.query(`set local lock_timeout = ${AUDIT_LOG_LOCK_MS}`);
  await client.query('alter table audit_log disable trigger user');
  const { rowCount } = await client.query(
    `update audit_log set ${REPLACED} where (id = any($3::bigint[]) or id > $4::bigint) and $1 in (email, actor, object)`,
    [email, erased, ids, start],
  );
  await client.query('alter table audit_log enable trigger user');
  return rowCount ?? 0;
}

/**
 * Clears the counters of wrong admin passwords, with an audit row. Instances do not cache them, so all of them accept the next attempt.
 * @param place of the database, for messages
 * @returns how many counters were cleared
 * @throws StartError when the database does not belong to Email Auth
 */
export async function clearAdminLimits(client: pg.ClientBase, place: string): Promise<number> {
  if ((await readSchemaState(client)).migrations.length === 0)
    throw new StartError(`There is no Email Auth database at ${place}. Check DATABASE_URL and DATA_DIR.`);
  const { rows } = await client.query<{ cleared: number }>(
    `with cleared as (delete from rate_limits where starts_with(key, 'admin_password') returning 1),
          audit as (${addActivity({ action: "'admin_unlocked'" })})
     select count(*)::int as cleared from cleared`,
  );
  return rows[0].cleared;
}
