import type { Database } from '../db/database.ts';
import { newChallenge } from './proof.ts';

/** The challenges that addresses publish to prove domains. */
export type ClaimStore = {
  /** Returns the challenge of a claim, or null when none was made. */
  find(email: string, domain: string): Promise<string | null>;
  /**
   * Returns an address's challenges by domain, and makes those that are missing. Concurrent calls get the same ones. A challenge
   * stays the same until the address loses the domain; then its row is deleted.
   */
  obtain(email: string, domains: readonly string[]): Promise<Map<string, string>>;
};

type Row = { domain: string; challenge: string };

const FIND = 'select domain, challenge from domain_claims where email = $1 and domain = any($2::text[])';

// The update changes nothing; it makes the statement return the row of a concurrent call, too.
const MAKE = `
insert into domain_claims (email, domain, challenge)
select $1, domain, challenge from unnest($2::text[], $3::text[]) as made (domain, challenge) order by domain
on conflict (domain, email) do update set challenge = domain_claims.challenge
returning domain, challenge`;

export function createClaimStore(database: Pick<Database, 'orm'>): ClaimStore {
  async function ask(sql: string, bind: unknown[]): Promise<Row[]> {
    const [rows] = await (await database.orm()).query(sql, { bind });
    return rows as Row[];
  }

  return {
    find: async (email, domain) => (await ask(FIND, [email, [domain]]))[0]?.challenge ?? null,

    obtain: async (email, domains) => {
      if (domains.length === 0) return new Map();
      const found = await ask(FIND, [email, domains]);
      const challenges = new Map(found.map(({ domain, challenge }) => [domain, challenge]));
      const missing = domains.filter((domain) => !challenges.has(domain));
      // A read writes nothing once all of them exist.
      if (missing.length === 0) return challenges;
      for (const { domain, challenge } of await ask(MAKE, [email, missing, missing.map(newChallenge)])) challenges.set(domain, challenge);
      return challenges;
    },
  };
}
