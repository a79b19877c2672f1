import { v7 as uuid } from 'uuid';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import type { Outbox } from '../mail/outbox.ts';
import { type ProofSource, proofSourceOf, requireProof } from '../permissions/proofs.ts';
import type { Config } from '../platform/config.ts';
import { type Database, queryOf } from '../platform/db/database.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Limits } from '../platform/http/limits.ts';
import { rootDomainOf } from './domains.ts';
import { presentWebsite, roleAt } from './managers.ts';
import { findProof, proofFor } from './proof.ts';
import { findChallenge, grantDomain, obtainChallenges } from './store.ts';

type Parts = {
  config: Pick<Config, 'dnsServers'>;
  database: Database;
  outbox: Pick<Outbox, 'handOver'>;
  limits: Pick<Limits, 'hit'>;
};

/** The claims of accounts to domains, and their proofs. */
export class Claims {
  readonly #parts: Parts;
  /** Addresses whose proof is being searched: one search at a time, so that no one has the service connect to many hosts. */
  readonly #proving = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns what an account has to publish to prove that it controls a domain. For a website that it manages, this is the proof of the
   * linked address.
   * @throws Fault bad_domain, rate_limited
   */
  async claim(account: Account, input: string): Promise<Output<'claimWebsite'>> {
    const { database, limits } = this.#parts;
    const domain = rootDomainOf(input);
    const { email } = await this.#claimantOf(account, domain);
    const known = await findChallenge(database.core, email, domain);
    if (known === null) await limits.hit('domain_claims', account.email);
    return { domain, proof: proofFor(domain, known ?? (await this.#challengeOf(email, domain))) };
  }

  /**
   * Searches an account's proof and, if it is found, gives it the domain, also when another address registered it. A website that the
   * account manages stays with its linked address, whose proof is searched. If another address
   * proved the domain, only the DNS record counts: it shows who controls the zone now, while a file can be written by
   * others who publish on the site. To change the linked address of a website, the account's own address has to be proven too.
   * @throws Fault bad_domain, not_proven, proof_needed, rate_limited
   */
  async prove(account: Account, input: Parsed<'proveWebsite'>, source: ProofSource | null): Promise<Output<'proveWebsite'>> {
    const { config, database, limits, outbox } = this.#parts;
    const domain = rootDomainOf(input.domain);
    await limits.hit('domain_proofs', account.email);
    if (this.#proving.has(account.email))
      throw new Fault('rate_limited', { message: 'A proof of yours is being checked already.', retryAfter: 5 });
    this.#proving.add(account.email);
    try {
      const { email, holder } = await this.#claimantOf(account, domain);
      // Before the search, which takes time and counts.
      if (holder && holder.email !== email) {
        const { sequelize } = await database.orm();
        await sequelize.transaction((transaction) => requireProof(queryOf(sequelize, transaction), account, source));
      }
      const needsDns = holder !== null && holder.provenAt !== null && holder.email !== email;
      const challenge = await this.#challengeOf(email, domain);
      const kind = await findProof(domain, challenge, needsDns ? ['dns'] : ['dns', 'file'], { dnsServers: config.dnsServers });
      if (!kind) throw notProven(needsDns);
      const claim = { id: uuid(), domain, email, challenge, kind, claimant: account, source };
      const result = await grantDomain(database.core, claim, uuid);
      if (result.status !== 'granted') throw notProven(result.status === 'dns_needed');
      for (const mail of result.mails) outbox.handOver({ ...mail, language: 'en', data: { domain } });
      return presentWebsite(database, account, result.website);
    } finally {
      this.#proving.delete(account.email);
    }
  }

  /** Returns the website of a domain, and the address that a proof of the account is for: the linked one, if it manages the website. */
  async #claimantOf(account: Account, domain: string) {
    const orm = await this.#parts.database.orm();
    const holder = await orm.Website.findOne({ where: { domain }, raw: true });
    const role = holder && (await roleAt(orm, holder, account.email));
    return { holder, email: (role && holder.email) || account.email };
  }

  async #challengeOf(email: string, domain: string): Promise<string> {
    return (await obtainChallenges(this.#parts.database.core, email, [domain])).get(domain) as string;
  }
}

function notProven(needsDns: boolean): Fault {
  const message = 'Another address has proved this domain. Only the DNS record can take it over, and it was not found yet.';
  return new Fault('not_proven', needsDns ? { message, field: 'domain' } : { field: 'domain' });
}

/** Binds the calls of claims and proofs. */
export function claimEndpoints(claims: Claims): Endpoint[] {
  return [
    handle('claimWebsite', ({ domain }, { account }) => claims.claim(account, domain)),
    // Name servers and sites may take their time to respond.
    handle('proveWebsite', (input, caller) => claims.prove(caller.account, input, proofSourceOf(caller)), { timeoutSeconds: 15 }),
  ];
}
