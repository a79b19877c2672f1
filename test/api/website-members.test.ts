import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import { png } from '../support/images.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import {
  addProvenWebsite,
  confirmLink,
  type Developer,
  freshAddress,
  freshDomain,
  proveWebsite,
  signInDeveloper,
  visitorToken,
} from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';

const { stage, service, names } = await useService();
const { service: strict } = await useProduction();

type Site = { id: string; domain: string; role: string; linkedAddress: string; iconUrl: string | null };
type Team = { owner: Developer; site: Site };

const developer = () => signInDeveloper(stage, service);
// localhost of local mode aside.
const sitesOf = async ({ client }: Developer): Promise<Site[]> =>
  (await client.get('/api/websites')).json.filter(({ domain }: Site) => domain !== 'localhost');
const codeOf = ({ status, json }: HttpResponse) => [status, json.code];
const teamOf = ({ id }: Site) => `/api/websites/${id}/members`;
const memberOf = (site: Site, email: string) => `${teamOf(site)}/${encodeURIComponent(email)}`;
const actionsOf = (domain: string) =>
  stage.query('select action, email from audit_log where domain = $1 and action ~ $2 order by id', [
    domain,
    'member|invit|role|team|removed|left',
  ]);

/** Adds a website with a verified domain. */
async function openSite(owner?: Developer): Promise<Team> {
  const who = owner ?? (await developer());
  const domain = await addProvenWebsite(names, who);
  return { owner: who, site: (await sitesOf(who)).find((site) => site.domain === domain) as Site };
}

const invite = ({ owner, site }: Team, email: string, role?: string) => owner.client.post(teamOf(site), { email, role });

/** Adds a developer to a team. */
async function join(team: Team, role = 'member'): Promise<Developer> {
  const member = await developer();
  await invite(team, member.email, role);
  const response = await member.client.post(`/api/invitations/${team.site.id}/accept`, {});
  if (response.status !== 200) throw new Error(`Accepting returned ${response.status}: ${response.text}`);
  return member;
}

/** Adds a website at the service with limits. */
async function openStrictSite() {
  const owner = await signInDeveloper(stage, strict);
  const { json: site } = await owner.client.post('/api/websites', { domain: freshDomain() });
  await stage.query('update websites set proven_at = now() where id = $1', [site.id]);
  return { owner, site };
}

describe('an invitation', () => {
  test('names the website, the inviter and the role, and its link signs in without accepting it', async () => {
    const team = await openSite();
    const email = freshAddress('guest');
    const response = await invite(team, email, 'owner');
    expect(response.json).toMatchObject({ email, role: 'owner', status: 'invited', invitedBy: team.owner.email, joinedAt: null });
    const mail = await stage.mailbox.waitFor(email);
    for (const text of [team.site.domain, team.owner.email, 'as an owner']) expect(mail.text).toContain(text);
    const browser = service.client();
    const { redirectUrl } = (await confirmLink(browser, mail, email)).json;
    await browser.post('/api/auth/token-login', { token: new URL(redirectUrl).searchParams.get('token'), confirm: true });
    expect((await browser.get('/api/websites')).json).toMatchObject([{ domain: 'localhost' }]);
    const { id, domain } = team.site;
    expect((await browser.get('/api/invitations')).json).toMatchObject([{ id, domain, role: 'owner', invitedBy: team.owner.email }]);
    expect((await browser.post(`/api/invitations/${id}/accept`, {})).json).toMatchObject({ domain, role: 'owner' });
    expect((await browser.get('/api/websites')).json).toMatchObject([
      { domain, role: 'owner', linkedAddress: team.owner.email },
      { domain: 'localhost' },
    ]);
    expect((await browser.get('/api/invitations')).json).toEqual([]);
    expect(await actionsOf(domain)).toEqual([
      { action: 'member_invited', email: team.owner.email },
      { action: 'invited_to_website', email },
      { action: 'invitation_accepted', email },
      { action: 'member_joined', email: team.owner.email },
    ]);
  });

  test('is for its address alone, and gives nothing before it is accepted', async () => {
    const team = await openSite();
    const [guest, other] = [await developer(), await developer()];
    await invite(team, guest.email);
    expect(codeOf(await other.client.post(`/api/invitations/${team.site.id}/accept`, {}))).toEqual([404, 'invitation_not_found']);
    for (const { client } of [guest, other]) {
      expect(codeOf(await client.get(teamOf(team.site)))).toEqual([404, 'website_not_found']);
      expect(codeOf(await client.get(`/api/websites/events?domain=${team.site.domain}`))).toEqual([404, 'website_not_found']);
    }
    expect(await sitesOf(guest)).toEqual([]);
  });

  test('is renewed by a second one, can be declined, and is not valid after seven days', async () => {
    const team = await openSite();
    const guest = await developer();
    await invite(team, guest.email);
    const expire = () =>
      stage.query(`update website_members set invited_at = now() - interval '7 days 1 second' where email = $1`, [guest.email]);
    await expire();
    expect((await guest.client.get('/api/invitations')).json).toEqual([]);
    expect(codeOf(await guest.client.post(`/api/invitations/${team.site.id}/accept`, {}))).toEqual([404, 'invitation_not_found']);
    expect((await team.owner.client.get(teamOf(team.site))).json[1]).toMatchObject({ email: guest.email, status: 'expired' });
    expect((await invite(team, guest.email, 'owner')).json).toMatchObject({ status: 'invited', role: 'owner' });
    expect((await guest.client.delete(`/api/invitations/${team.site.id}`)).status).toBe(200);
    expect((await team.owner.client.get(teamOf(team.site))).json).toHaveLength(1);
    expect((await actionsOf(team.site.domain)).slice(-2)).toEqual([
      { action: 'invitation_declined', email: guest.email },
      { action: 'member_declined', email: team.owner.email },
    ]);
  });

  test('has a link that lives as long as itself, and ends once it is accepted or declined', async () => {
    const team = await openSite();
    const pass = (email: string, interval: string) =>
      stage.query('update sign_in_attempts set expires_at = expires_at - $2::interval where email = $1', [email, interval]);
    const [early, late, accepted, declined] = [freshAddress('a'), freshAddress('b'), await developer(), await developer()];
    const mails: ReceivedMail[] = [];
    for (const email of [early, late, accepted.email, declined.email]) {
      await invite(team, email);
      mails.push(await stage.mailbox.waitFor(email));
    }
    expect(mails[0].text).toContain('within these 7 days');
    expect(mails[0].code).toBe('');
    // The website is older than its invitations.
    await stage.query(
      "update websites set created_at = created_at - interval '8 days', domain_since = created_at - interval '8 days' where id = $1",
      [team.site.id],
    );
    await pass(early, '6 days 23 hours');
    await pass(late, '7 days 1 second');
    await accepted.client.post(`/api/invitations/${team.site.id}/accept`, {});
    await declined.client.delete(`/api/invitations/${team.site.id}`);
    const statuses = [];
    for (const mail of mails) statuses.push((await confirmLink(service.client(), mail, mail.recipients[0])).status);
    expect(statuses).toEqual([200, 400, 400, 400]);
  });

  test('is refused for an unverified domain, the linked address, a member and a role that does not exist', async () => {
    const owner = await developer();
    const { json: unproven } = await owner.client.post('/api/websites', { domain: freshDomain() });
    expect(codeOf(await invite({ owner, site: unproven }, freshAddress()))).toEqual([409, 'unproven_domain']);
    const team = await openSite(owner);
    expect(codeOf(await invite(team, owner.email))).toEqual([409, 'already_member']);
    const member = await join(team);
    expect(codeOf(await invite(team, member.email))).toEqual([409, 'already_member']);
    expect(codeOf(await invite(team, freshAddress(), 'admin'))).toEqual([400, 'bad_request']);
    expect(codeOf(await invite(team, 'nobody'))).toEqual([400, 'bad_email']);
    const { json } = await owner.client.post('/api/api-keys', { name: 'a key', environment: 'live' });
    const withKey = { authorization: `Bearer ${json.key}` };
    const response = await service.client().post(teamOf(team.site), { email: freshAddress() }, withKey);
    expect(codeOf(response)).toEqual([403, 'person_needed']);
  });

  test('ends when the website moves to another domain', async () => {
    const team = await openSite();
    const guest = await developer();
    await invite(team, guest.email);
    await team.owner.client.put(`/api/websites/${team.site.id}`, { domain: freshDomain() });
    expect((await guest.client.get('/api/invitations')).json).toEqual([]);
  });

  test('is limited to 20 members and invitations of a website, also for concurrent ones', async () => {
    const team = await openSite();
    const inviteOne = () => invite(team, freshAddress('guest'));
    const responses: HttpResponse[] = [];
    // Those at the limit at once. All of them at once may wait too long for a connection.
    for (let sent = 0; sent < 16; sent++) responses.push(await inviteOne());
    responses.push(...(await Promise.all(Array.from({ length: 8 }, inviteOne))));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
    for (const response of responses.filter(({ status }) => status !== 200)) expect(codeOf(response)).toEqual([409, 'too_many']);
    expect((await team.owner.client.get(teamOf(team.site))).json).toHaveLength(21);
  });

  test('is limited to 20 a day for an account', async () => {
    const { owner, site } = await openStrictSite();
    const guest = freshAddress('guest');
    for (let sent = 0; sent < 20; sent++) {
      expect((await invite({ owner, site }, guest.replace('@', `${sent}@`))).status).toBe(200);
      await owner.client.delete(memberOf(site, guest.replace('@', `${sent}@`)));
    }
    expect(codeOf(await invite({ owner, site }, guest))).toEqual([429, 'rate_limited']);
  });

  test('is not in the list when its email is not sent', async () => {
    const { owner, site } = await openStrictSite();
    const guest = freshAddress('guest');
    await stage.query("update rate_limits set hits = 1000 where key = 'network ' || $1", [owner.client.networkAddress]);
    expect(codeOf(await invite({ owner, site }, guest))).toEqual([429, 'rate_limited']);
    expect((await owner.client.get(teamOf(site))).json).toHaveLength(1);
  });
});

describe('a member', () => {
  test('sees everything of the website and changes its icon, but does not move, delete or share it', async () => {
    const team = await openSite();
    const [member, { site }] = [await join(team), team];
    const token = await visitorToken(stage, service.client(), site.domain);
    const { json } = await member.client.post('/api/api-keys', { name: 'a key', environment: 'live' });
    const verified = await service
      .client()
      .get(`/api/verify-token?token=${token}&domain=${site.domain}`, { authorization: `Bearer ${json.key}` });
    expect(verified.json).toMatchObject({ valid: true });
    await countNow(stage);
    expect((await member.client.get('/api/websites/stats')).json).toContainEqual(expect.objectContaining({ id: site.id, completed: 1 }));
    const { events } = (await member.client.get(`/api/websites/events?domain=${site.domain}&since=60`)).json;
    expect(events.map(({ kind }: { kind: string }) => kind)).toContain('verified');
    expect((await member.client.get(teamOf(site))).json).toMatchObject([
      { email: team.owner.email, role: 'owner', status: 'linked' },
      { email: member.email, role: 'member', status: 'joined', invitedBy: team.owner.email },
    ]);
    const iconUrl = await uploadIcon(member);
    const changed = await member.client.put(`/api/websites/${site.id}`, { domain: site.domain, iconUrl });
    expect(changed.json).toMatchObject({ iconUrl, role: 'member', linkedAddress: team.owner.email });
    for (const response of [
      await member.client.put(`/api/websites/${site.id}`, { domain: freshDomain() }),
      await member.client.delete(`/api/websites/${site.id}`),
      await member.client.post(teamOf(site), { email: freshAddress() }),
      await member.client.put(memberOf(site, member.email), { role: 'owner' }),
      await member.client.delete(memberOf(site, freshAddress())),
    ]) {
      expect(codeOf(response)).toEqual([403, 'owner_needed']);
      expect(response.json.error).toMatch(/owner/);
    }
    expect((await sitesOf(team.owner))[0]).toMatchObject({ domain: site.domain, role: 'owner', iconUrl });
  });

  test('checks the proof of the linked address, which keeps the website', async () => {
    const team = await openSite();
    const member = await join(team);
    await stage.query('update websites set proven_at = null where id = $1', [team.site.id]);
    await proveWebsite(names, member.client, team.site.domain);
    expect(await stage.query('select email, proven_at is not null as proven from websites where id = $1', [team.site.id])).toEqual([
      { email: team.owner.email, proven: true },
    ]);
    expect(await sitesOf(member)).toMatchObject([{ id: team.site.id, role: 'member' }]);
  });

  test('has no access after its removal, and after it left', async () => {
    const team = await openSite();
    const [removed, left] = [await join(team), await join(team)];
    expect((await team.owner.client.delete(memberOf(team.site, removed.email))).status).toBe(200);
    expect((await left.client.delete(memberOf(team.site, left.email))).status).toBe(200);
    for (const former of [removed, left]) {
      expect(await sitesOf(former)).toEqual([]);
      expect(codeOf(await former.client.put(`/api/websites/${team.site.id}`, { domain: team.site.domain }))).toEqual([
        404,
        'website_not_found',
      ]);
      expect((await former.client.get('/api/websites/stats')).json.filter((each: Site) => each.id === team.site.id)).toEqual([]);
    }
    expect((await actionsOf(team.site.domain)).slice(-4)).toEqual([
      { action: 'member_removed', email: team.owner.email },
      { action: 'removed_from_website', email: removed.email },
      { action: 'website_left', email: left.email },
      { action: 'member_left', email: team.owner.email },
    ]);
    const newestOf = async ({ client }: Developer) => (await client.get('/api/audit-logs?limit=1')).json;
    const { domain } = team.site;
    expect(await newestOf(removed)).toMatchObject([{ domain, actor: team.owner.email, manages: false }]);
    expect(await newestOf(team.owner)).toMatchObject([{ domain, actor: left.email, manages: true }]);
    expect(codeOf(await team.owner.client.delete(memberOf(team.site, left.email)))).toEqual([404, 'member_not_found']);
  });
});

describe('an owner beside the linked address', () => {
  test('manages the team and moves the website, but does not remove or change the linked address', async () => {
    const team = await openSite();
    const owner = await join(team, 'owner');
    const member = await join(team);
    const linked = memberOf(team.site, team.owner.email);
    expect(codeOf(await owner.client.delete(linked))).toEqual([400, 'bad_request']);
    expect(codeOf(await owner.client.put(linked, { role: 'member' }))).toEqual([400, 'bad_request']);
    expect(codeOf(await team.owner.client.delete(linked))).toEqual([400, 'bad_request']);
    expect((await owner.client.put(memberOf(team.site, member.email), { role: 'owner' })).json).toMatchObject({ role: 'owner' });
    expect((await actionsOf(team.site.domain)).slice(-2)).toEqual([
      { action: 'member_role_changed', email: owner.email },
      { action: 'role_changed', email: member.email },
    ]);
    const domain = freshDomain();
    expect((await member.client.put(`/api/websites/${team.site.id}`, { domain })).json).toMatchObject({ domain });
    expect((await owner.client.delete(`/api/websites/${team.site.id}`)).status).toBe(200);
    for (const former of [team.owner, owner, member]) expect(await sitesOf(former)).toEqual([]);
  });
});

describe('concurrent changes', () => {
  test('of two acceptances, one succeeds and is in the audit log once', async () => {
    const team = await openSite();
    const guest = await developer();
    await invite(team, guest.email);
    const accept = () => guest.client.post(`/api/invitations/${team.site.id}/accept`, {});
    const responses = await Promise.all([accept(), accept(), accept()]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect((await actionsOf(team.site.domain)).filter(({ action }) => action === 'invitation_accepted')).toHaveLength(1);
  });

  test('an acceptance and a withdrawal leave no access', async () => {
    for (let round = 0; round < 5; round++) {
      const team = await openSite();
      const guest = await developer();
      await invite(team, guest.email);
      const [accepted, removed] = await Promise.all([
        guest.client.post(`/api/invitations/${team.site.id}/accept`, {}),
        team.owner.client.delete(memberOf(team.site, guest.email)),
      ]);
      expect([200, 404]).toContain(accepted.status);
      expect(removed.status).toBe(200);
      expect(await sitesOf(guest)).toEqual([]);
      const actions = (await actionsOf(team.site.domain)).map(({ action }) => action);
      expect(actions).toContain(accepted.status === 200 ? 'member_removed' : 'invitation_withdrawn');
    }
  });

  test('two owners who remove each other leave one of them', async () => {
    const team = await openSite();
    const [one, two] = [await join(team, 'owner'), await join(team, 'owner')];
    const responses = await Promise.all([
      one.client.delete(memberOf(team.site, two.email)),
      two.client.delete(memberOf(team.site, one.email)),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await team.owner.client.get(teamOf(team.site))).json).toHaveLength(2);
  });

  test('a proof by another address ends the team, whatever it does meanwhile', async () => {
    const team = await openSite();
    const [member, guest, rival] = [await join(team), await developer(), await developer()];
    await invite(team, guest.email);
    const [accepted] = await Promise.all([
      guest.client.post(`/api/invitations/${team.site.id}/accept`, {}),
      proveWebsite(names, rival.client, team.site.domain),
    ]);
    expect([200, 404]).toContain(accepted.status);
    for (const former of [team.owner, member, guest]) expect(await sitesOf(former)).toEqual([]);
    expect(await sitesOf(rival)).toMatchObject([{ domain: team.site.domain, role: 'owner', linkedAddress: rival.email }]);
    expect(await stage.query('select 1 from website_members where website_id = $1', [team.site.id])).toEqual([]);
  });
});

/** Uploads an icon. @returns its path */
async function uploadIcon({ client }: Developer): Promise<string> {
  const { uploadURL } = (await client.post('/api/objects/upload', {})).json;
  const bytes = await png();
  const response = await fetch(uploadURL, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: new Uint8Array(bytes) });
  return ((await response.json()) as { iconUrl: string }).iconUrl;
}
