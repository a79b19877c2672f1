import type { Sequelize, Transaction } from 'sequelize';
import type { Database, Query } from '../db/database.ts';
import type { MailKind } from '../mail/mail.ts';
import type { ProofKind } from './proof.ts';

export type { Transaction } from 'sequelize';

/** A registered site. */
export type Site = {
  id: string;
  domain: string;
  /** Linked address: the only one that sees or changes the site. */
  email: string;
  /** When the linked address first signed in or proved the domain; null: the site is on probation. */
  claimedAt: Date | null;
  provenAt: Date | null;
  /** Id of its upload. */
  icon: string | null;
  createdAt: Date;
};

/** A mail that a change owes somebody; it is written in the change's own transaction. */
type OwedMail = { id: string; kind: MailKind; recipient: string };

/** A proof that was found, of this challenge. `leaseSeconds`: how long the instance that wrote the mails has them to itself. */
type Claim = { id: string; domain: string; email: string; challenge: string; kind: ProofKind; leaseSeconds: number };
/**
 * `mails`: whoever has to be told. `stronger_needed`: another address proved the domain, and a file does not outweigh that.
 * `outdated`: the challenge was replaced since the proof was looked for.
 */
type ClaimResult = { outcome: 'yours'; site: Site; mails: OwedMail[] } | { outcome: 'stronger_needed' | 'outdated' };

type WebsiteStore = {
  /** Adds a site of somebody signed in. @returns null when the domain is taken */
  add(site: { id: string; domain: string; email: string; icon: string | null }, transaction: Transaction): Promise<Site | null>;
  /** Adds a site on probation by `query`, in its transaction. @returns false when the domain is taken */
  register(query: Query, site: { id: string; domain: string; email: string }): Promise<boolean>;
  ofOwner(email: string): Promise<Site[]>;
  /** Returns a site of this owner, or null. */
  find(site: { id: string; email: string }): Promise<Site | null>;
  byDomain(domain: string): Promise<Site | null>;
  /**
   * Moves a site to another domain, which is then unproven, and gives it the icon, unless that is undefined.
   * @returns 'taken'; 'on_probation', unchanged, when it may not have an icon yet; null when the site is not this owner's
   */
  change(
    site: { id: string; email: string; domain: string; icon?: string | null },
    transaction?: Transaction,
  ): Promise<Site | 'taken' | 'on_probation' | null>;
  remove(site: { id: string; email: string }): Promise<Site | null>;
  /** Gives a proven domain to its claimant, wholly: what belonged to another address's site goes with it. */
  claim(claim: Claim, newMailId: () => string): Promise<ClaimResult>;
  /** Removes sites whose linked address never signed in, by a connection of the timed jobs. @returns how many of at most `limit` */
  releaseUnclaimed(query: Query, afterDays: number, limit: number): Promise<number>;
};

const SITE = 'id, domain, email, claimed_at as "claimedAt", proven_at as "provenAt", icon, created_at as "createdAt"';
const OF_OWNER = `select ${SITE} from websites where id = $1 and email = $2`;
const MAIL_LIFE = "interval '2 days'";
const CLAIM_TRIES = 5;

/**
 * Returns a CTE that deletes the claim of each address that loses a domain by the CTE `site`: what it published proves nothing
 * from then on. Every statement locks websites before claims, so that no two wait for each other.
 * @param lost column of `site`: the domain that the address loses
 */
const endClaims = (lost: string) =>
  `ended_claims as (delete from domain_claims c using site where c.email = site.email and c.domain = site.${lost})`;

/** A statement on `websites` that returns the row, together with its audit row. @param lost as of endClaims; unset: no domain is lost */
const audited = (sql: string, action: string, lost?: string) =>
  `with site as (${sql}), audit as (insert into audit_log (action, email, domain) select '${action}', email, domain from site)
   ${lost ? `, ${endClaims(lost)}` : ''} select ${SITE} from site`;

/** The SQL of websites. A change and its audit row are one statement. */
export function createWebsiteStore(database: Database): WebsiteStore {
  async function ask<Row>(sql: string, bind: unknown[], transaction?: Transaction): Promise<Row[]> {
    const [rows] = await (await database.orm()).query(sql, { bind, transaction });
    return rows as Row[];
  }
  const one = async (sql: string, bind: unknown[], transaction?: Transaction): Promise<Site | null> =>
    (await ask<Site>(sql, bind, transaction))[0] ?? null;
  const change = (sql: string, action: string, bind: unknown[], transaction?: Transaction) => one(audited(sql, action), bind, transaction);

  return {
    add: ({ id, domain, email, icon }, transaction) => {
      const sql =
        'insert into websites (id, domain, email, icon, claimed_at) values ($1, $2, $3, $4, now()) on conflict (domain) do nothing returning *';
      return change(sql, 'website_added', [id, domain, email, icon], transaction);
    },

    register: async (query, { id, domain, email }) => {
      const sql = 'insert into websites (id, domain, email) values ($1, $2, $3) on conflict (domain) do nothing returning *';
      const { rows } = await query(audited(sql, 'website_registered'), [id, domain, email]);
      return rows.length === 1;
    },

    ofOwner: (email) => ask<Site>(`select ${SITE} from websites where email = $1 order by created_at desc, id desc`, [email]),

    find: async ({ id, email }) => (await ask<Site>(OF_OWNER, [id, email]))[0] ?? null,

    byDomain: async (domain) => (await ask<Site>(`select ${SITE} from websites where domain = $1`, [domain]))[0] ?? null,

    change: async ({ id, email, domain, icon }, transaction) => {
      try {
        const changed = await one(
          audited(
            `update websites w set domain = $3, moved_at = case when w.domain = $3 then moved_at else now() end,
                proven_at = case when w.domain = $3 then proven_at end, icon = case when $4 then $5::uuid else icon end
             from (select id as old_id, domain as old_domain from websites where id = $1 and email = $2 for update) old
             where id = old_id and (w.domain <> $3 or ($4 and icon is distinct from $5)) and ($5 is null or claimed_at is not null)
             returning w.*, nullif(old_domain, w.domain) as left_domain`,
            'website_changed',
            'left_domain',
          ),
          [id, email, domain, icon !== undefined, icon ?? null],
          transaction,
        );
        if (changed) return changed;
        const [site] = await ask<Site>(OF_OWNER, [id, email], transaction);
        if (site && icon && site.claimedAt === null) return 'on_probation';
        return site ?? null;
      } catch (error) {
        if (error instanceof Error && error.name === 'SequelizeUniqueConstraintError') return 'taken';
        throw error;
      }
    },

    remove: ({ id, email }) =>
      one(audited('delete from websites where id = $1 and email = $2 returning *', 'website_deleted', 'domain'), [id, email]),

    claim: async (claim, newMailId) => {
      const orm = await database.orm();
      for (let tries = 1; ; tries++) {
        const result = await claimOnce(orm, claim, newMailId);
        if (result) return result;
        if (tries === CLAIM_TRIES) throw new Error(`${claim.domain} keeps changing hands`);
      }
    },

    releaseUnclaimed: async (query, afterDays, limit) => {
      const { rows } = await query(
        `with site as (
           delete from websites where ctid = any(array(
             select ctid from websites where claimed_at is null and email is not null and created_at < now() - make_interval(days => $1)
             order by created_at limit $2 for update skip locked))
           returning *
         ), audit as (insert into audit_log (action, email, domain) select 'website_released', email, domain from site),
         ${endClaims('domain')}
         select count(*)::int from site`,
        [afterDays, limit],
      );
      return (rows[0] as { count: number }).count;
    },
  };

  /** @returns null when a registration came first, which is then the one to take the domain from */
  function claimOnce(orm: Sequelize, claim: Claim, newMailId: () => string): Promise<ClaimResult | null> {
    const { id, domain, email } = claim;
    return orm.transaction(async (transaction) => {
      // One claimant at a time. Registrations take no such lock, so one may still come between the look and the insert.
      await ask('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`claim ${domain}`], transaction);
      const [holder] = await ask<Site>(`select ${SITE} from websites where domain = $1 for update`, [domain], transaction);
      const mine = holder?.email === email;
      if (holder?.provenAt && !mine && claim.kind !== 'dns') return { outcome: 'stronger_needed' };
      const valid = await ask(
        'select 1 as valid from domain_claims where domain = $1 and email = $2 and challenge = $3 for update',
        [domain, email, claim.challenge],
        transaction,
      );
      if (valid.length === 0) return { outcome: 'outdated' };
      // Everybody else's challenge is from before this proof: a record of theirs that still stands must prove nothing.
      if (!mine || !holder.provenAt)
        await ask('delete from domain_claims where domain = $1 and email <> $2 returning 1 as ended', [domain, email], transaction);
      const mails: OwedMail[] = [];
      if (!mine || !holder.provenAt) mails.push({ id: newMailId(), kind: 'domain_proven', recipient: email });
      if (holder && !mine) {
        await change('delete from websites where id = $1 returning *', 'website_lost', [holder.id], transaction);
        if (holder.email) mails.push({ id: newMailId(), kind: 'domain_lost', recipient: holder.email });
      }
      const site = mine
        ? await change(
            'update websites set proven_at = now(), claimed_at = coalesce(claimed_at, now()) where id = $1 returning *',
            'website_proven',
            [holder.id],
            transaction,
          )
        : await change(
            `insert into websites (id, domain, email, claimed_at, proven_at) values ($1, $2, $3, now(), now())
             on conflict (domain) do nothing returning *`,
            'website_proven',
            [id, domain, email],
            transaction,
          );
      // Nothing was written in this case: the row that is in the way appeared after the look.
      if (!site) return null;
      for (const mail of mails) {
        await ask(
          `insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
           values ($1, $2, $3, 'en', jsonb_build_object('domain', $4::text), now() + make_interval(secs => $5), now() + ${MAIL_LIFE})`,
          [mail.id, mail.kind, mail.recipient, domain, claim.leaseSeconds],
          transaction,
        );
      }
      return { outcome: 'yours', site, mails };
    });
  }
}
