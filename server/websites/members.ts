import type { Transaction } from 'sequelize';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { INVITATION_DAYS, MAX_WEBSITE_MEMBERS } from '../../contract/limits.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import { beginChange, type ProofSource, proofSourceOf, requireProof } from '../permissions/proofs.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { type Database, type Query, queryOf } from '../platform/db/database.ts';
import type { Website, WebsiteMember } from '../platform/db/models.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import type { Limits } from '../platform/http/limits.ts';
import { displayDomainOf } from './domains.ts';
import { findManaged, findOwned, presentWebsite } from './managers.ts';

type Parts = {
  database: Database;
  limits: Limits;
  inviteMember: InviteMember;
};

/** Emails an invitation, together with `add`. */
export type InviteMember = (
  invitation: { email: string; domain: string; role: WebsiteRole; inviter: string; clientAddress: string },
  add: (query: Query) => Promise<unknown>,
) => Promise<void>;

const DAY_MS = 86_400_000;
const EXPIRES_AFTER_MS = INVITATION_DAYS * DAY_MS;
const OLDEST_VALID = `now() - interval '${INVITATION_DAYS} days'`;

/**
 * The teams of websites: the linked address, and those who accepted an invitation. Every change is in the audit log twice: once for the
 * account that made it, and once for the other address.
 */
export class Members {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the linked address, and then members and invitations, oldest first. @throws Fault website_not_found */
  async list({ email }: Account, id: string): Promise<Output<'listMembers'>> {
    const orm = await this.#parts.database.orm();
    const { website } = await findManaged(orm, email, id);
    const members = await orm.WebsiteMember.findAll({ where: { websiteId: id }, order: ['invitedAt', 'email'], raw: true });
    const linked = { role: 'owner', status: 'linked', invitedBy: null, invitedAt: null, joinedAt: null } as const;
    return [...(website.email === null ? [] : [{ email: website.email, ...linked }]), ...members.map(presentMember)];
  }

  /**
   * Emails an invitation, which is valid for INVITATION_DAYS; a second one renews the first. It gives nothing before its address
   * accepts it. An owner can be invited only after a proof of the account's address.
   * @throws Fault already_member, owner_needed, proof_needed, rate_limited, too_many, unproven_domain, website_not_found
   */
  async invite(
    account: Account,
    { id, email, role }: Parsed<'inviteMember'>,
    { clientAddress, proof }: { clientAddress: string; proof: ProofSource | null },
  ): Promise<Output<'inviteMember'>> {
    const { database, limits, inviteMember } = this.#parts;
    const orm = await database.orm();
    const { website } = await findOwned(orm, account.email, id);
    if (!website.provenAt) throw new Fault('unproven_domain');
    // Before the limit, so that a sign-in for the proof does not cost an invitation.
    await orm.sequelize.transaction((transaction) => beginGrant(queryOf(orm.sequelize, transaction), account, role, proof));
    await limits.hit('invitations', account.email);
    const inviter = account.email;
    await inviteMember({ email, domain: website.domain, role, inviter, clientAddress }, async (query) => {
      await beginGrant(query, account, role, proof);
      await addInvitation(query, { websiteId: id, email, role, invitedBy: inviter });
    });
    return this.#member(id, email);
  }

  /**
   * Changes the role of a member or of an invitation.
   * @throws Fault bad_request, member_not_found, owner_needed, proof_needed, website_not_found
   */
  async changeRole(
    account: Account,
    { id, email, role }: Parsed<'changeMember'>,
    proof: ProofSource | null,
  ): Promise<Output<'changeMember'>> {
    const orm = await this.#parts.database.orm();
    await orm.sequelize.transaction(async (transaction) => {
      await beginGrant(queryOf(orm.sequelize, transaction), account, role, proof);
      const { website, linkedAddress } = await findOwned(orm, account.email, id, transaction);
      if (email === linkedAddress) throw linkedStays();
      const member = await orm.WebsiteMember.findOne({ where: { websiteId: id, email }, transaction });
      if (!member) throw new Fault('member_not_found');
      if (member.role === role) return;
      await member.update({ role }, { transaction });
      await this.#audit(website, account, 'member_role_changed', [email, 'role_changed'], transaction);
    });
    return this.#member(id, email);
  }

  /**
   * Removes a member, withdraws an invitation, or leaves the team with the account's own address.
   * @throws Fault bad_request, member_not_found, owner_needed, website_not_found
   */
  async remove(account: Account, { id, email }: Parsed<'removeMember'>): Promise<Output<'removeMember'>> {
    const orm = await this.#parts.database.orm();
    const isLeaving = email === account.email;
    await orm.sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(orm.sequelize, transaction), account);
      const { website, linkedAddress } = await (isLeaving ? findManaged : findOwned)(orm, account.email, id, transaction);
      if (email === linkedAddress) throw linkedStays();
      const member = await orm.WebsiteMember.findOne({ where: { websiteId: id, email }, transaction });
      if (!member) throw new Fault('member_not_found');
      await member.destroy({ transaction });
      const [action, actionForOther] = member.joinedAt
        ? ['member_removed', 'removed_from_website']
        : ['invitation_withdrawn', 'invitation_withdrawn'];
      if (isLeaving) await this.#audit(website, account, 'website_left', [linkedAddress, 'member_left'], transaction);
      else await this.#audit(website, account, action, [email, actionForOther], transaction);
    });
    return { success: true };
  }

  /** Returns the invitations that the account can accept, newest first. */
  async invitations({ email }: Account): Promise<Output<'listInvitations'>> {
    const { Op, time, Website, WebsiteMember } = await this.#parts.database.orm();
    const where = { email, joinedAt: null, invitedAt: { [Op.gt]: time(OLDEST_VALID) } };
    const invitations = await WebsiteMember.findAll({ where, order: [['invitedAt', 'desc']], raw: true });
    const websites = await Website.findAll({ where: { id: invitations.map(({ websiteId }) => websiteId) }, raw: true });
    return invitations.flatMap(({ websiteId, role, invitedBy, invitedAt }) =>
      websites
        .filter(({ id }) => id === websiteId)
        .map(({ id, domain }) => ({
          id,
          domain,
          displayDomain: displayDomainOf(domain),
          role,
          invitedBy,
          expiresAt: new Date(invitedAt.getTime() + EXPIRES_AFTER_MS).toISOString(),
        })),
    );
  }

  /** Accepts an invitation, once. @throws Fault invitation_not_found */
  async accept(account: Account, id: string): Promise<Output<'acceptInvitation'>> {
    const { database } = this.#parts;
    const orm = await database.orm();
    const website = await orm.sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(orm.sequelize, transaction), account);
      const found = await orm.Website.findByPk(id, { lock: true, transaction });
      const invited = { websiteId: id, email: account.email, joinedAt: null, invitedAt: { [orm.Op.gt]: orm.time(OLDEST_VALID) } };
      const [accepted] = found ? await orm.WebsiteMember.update({ joinedAt: orm.time('now()') }, { where: invited, transaction }) : [0];
      if (!found || accepted === 0) throw new Fault('invitation_not_found');
      await this.#audit(found, account, 'invitation_accepted', [found.email, 'member_joined'], transaction);
      return found;
    });
    return presentWebsite(database, account, website);
  }

  /** Declines an invitation. @throws Fault invitation_not_found */
  async decline(account: Account, id: string): Promise<Output<'declineInvitation'>> {
    const { email } = account;
    const orm = await this.#parts.database.orm();
    await orm.sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(orm.sequelize, transaction), account);
      const website = await orm.Website.findByPk(id, { lock: true, transaction });
      const declined = await orm.WebsiteMember.destroy({ where: { websiteId: id, email, joinedAt: null }, transaction });
      if (!website || declined === 0) throw new Fault('invitation_not_found');
      await this.#audit(website, account, 'invitation_declined', [website.email, 'member_declined'], transaction);
    });
    return { success: true };
  }

  /** @throws Fault member_not_found */
  async #member(websiteId: string, email: string): Promise<Output<'inviteMember'>> {
    const { WebsiteMember } = await this.#parts.database.orm();
    const member = await WebsiteMember.findOne({ where: { websiteId, email }, raw: true });
    if (!member) throw new Fault('member_not_found');
    return presentMember(member);
  }

  /** Adds a row of the audit log for who did something, and one with its own action for the address that it concerns. */
  async #audit(
    { id: websiteId, domain }: Website,
    account: Account,
    action: string,
    [email, actionForOther]: [string | null, string],
    transaction: Transaction,
  ): Promise<void> {
    const { AuditEntry } = await this.#parts.database.orm();
    const rows = [
      { action, ...actorOf(account), object: email, websiteId, domain },
      { action: actionForOther, email, actor: account.email, websiteId, domain },
    ];
    await AuditEntry.bulkCreate(rows, { transaction });
  }
}

function presentMember({ email, role, invitedBy, invitedAt, joinedAt }: WebsiteMember): Output<'listMembers'>[number] {
  const isExpired = invitedAt.getTime() + EXPIRES_AFTER_MS <= Date.now();
  return {
    email,
    role,
    status: joinedAt ? 'joined' : isExpired ? 'expired' : 'invited',
    invitedBy,
    invitedAt: invitedAt.toISOString(),
    joinedAt: joinedAt?.toISOString() ?? null,
  };
}

const linkedStays = () =>
  new Fault('bad_request', {
    field: 'email',
    message: 'The linked address always owns the website.',
    hint: 'To give the website to another address, that address leaves the team and proves the domain.',
  });

/** Binds the calls of teams and invitations. */
export function memberEndpoints(members: Members): Endpoint[] {
  return [
    handle('listMembers', ({ id }, { account }) => members.list(account, id)),
    handle('inviteMember', (input, caller) => {
      const { account, clientAddress } = caller;
      return members.invite(account, input, { clientAddress, proof: proofSourceOf(caller) });
    }),
    handle('changeMember', (input, caller) => members.changeRole(caller.account, input, proofSourceOf(caller))),
    handle('removeMember', (input, { account }) => members.remove(account, input)),
    handle('listInvitations', (_, { account }) => members.invitations(account)),
    handle('acceptInvitation', ({ id }, { account }) => members.accept(account, id)),
    handle('declineInvitation', ({ id }, { account }) => members.decline(account, id)),
  ];
}

/** Begins what gives an address a role. @throws Fault proof_needed for an owner, sign_in_needed */
async function beginGrant(query: Query, account: Account, role: WebsiteRole, proof: ProofSource | null): Promise<void> {
  if (role === 'owner') await requireProof(query, account, proof);
  else await beginChange(query, account);
}

type NewInvitation = { websiteId: string; email: string; role: WebsiteRole; invitedBy: string };

// The conditions are statements of their own: they see what the last holder of the lock has done.
const LOCK = 'select domain, email, proven_at is not null as proven from websites where id = $1 for update';
const OWNER = `select 1 from website_members where website_id = $1 and email = $2 and role = 'owner' and joined_at is not null`;
const COUNT = 'select count(*)::int as others from website_members where website_id = $1 and email <> $2';

const INVITE = `
with invited as (
  insert into website_members as m (website_id, email, role, invited_by) values ($1, $2, $3, $4)
  on conflict (website_id, email) do update set role = excluded.role, invited_by = excluded.invited_by, invited_at = now()
  where m.joined_at is null
  returning email, invited_by
),
audit as (
  ${addActivity(
    { action: 'action', email: 'address', domain: '$5::text', websiteId: '$1::uuid', actor: 'invited_by', object: 'email' },
    `invited cross join lateral (values ('member_invited', invited_by), ('invited_to_website', email)) as each (action, address)`,
  )}
)
select 1 from invited`;

/**
 * Adds an invitation, or renews one that was not accepted.
 * @param query runs in a transaction
 * @throws Fault already_member, owner_needed, too_many, unproven_domain, website_not_found
 */
async function addInvitation(query: Query, { websiteId, email, role, invitedBy }: NewInvitation): Promise<void> {
  type Website = { domain: string; email: string; proven: boolean };
  const [website] = (await query(LOCK, [websiteId])).rows as Website[];
  if (!website) throw new Fault('website_not_found');
  if (website.email !== invitedBy && (await query(OWNER, [websiteId, invitedBy])).rows.length === 0) throw new Fault('owner_needed');
  if (!website.proven) throw new Fault('unproven_domain');
  if (website.email === email) throw new Fault('already_member', { field: 'email' });
  const [{ others }] = (await query(COUNT, [websiteId, email])).rows as { others: number }[];
  if (others >= MAX_WEBSITE_MEMBERS) {
    const message = `This website has ${MAX_WEBSITE_MEMBERS} members and invitations, the maximum.`;
    throw new Fault('too_many', { message, hint: 'Remove one that you do not need.' });
  }
  const { rows } = await query(INVITE, [websiteId, email, role, invitedBy, website.domain]);
  if (rows.length === 0) throw new Fault('already_member', { field: 'email' });
}
