import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { type Service, useService } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import {
  confirmLink,
  type Developer,
  freshAddress,
  freshDomain,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';

const { stage, service } = await useService();
let second: Service;
let owner: Developer;
let other: Developer;
beforeAll(async () => {
  second = await stage.start({ PUBLIC_URL: service.url });
  owner = await signInDeveloper(stage, service);
  other = await signInDeveloper(stage, service);
});

type Website = { id: string; domain: string };
type Mailed = { website: Website; client: Client; email: string; mail: ReceivedMail };

const add = async (domain = freshDomain(), by = owner): Promise<Website> => (await by.client.post('/api/websites', { domain })).json;
const remove = (website: Website) => owner.client.delete(`/api/websites/${website.id}`);
const move = (website: Website, domain: string) => owner.client.put(`/api/websites/${website.id}`, { domain });

/** Changes the database as a proof by another account does. */
async function takeOver({ domain }: Website) {
  await stage.query('delete from websites where domain = $1', [domain]);
  await stage.query('insert into websites (id, domain, email, claimed_at, proven_at) values (gen_random_uuid(), $1, $2, now(), now())', [
    domain,
    other.email,
  ]);
}

async function begin(): Promise<Mailed> {
  const website = await add();
  const [client, email] = [service.client(), freshAddress()];
  await requestEmail(client, email, `https://${website.domain}/`);
  return { website, client, email, mail: await stage.mailbox.waitFor(email) };
}

const endings: [string, (website: Website) => Promise<unknown>][] = [
  ['deleted', remove],
  [
    'deleted and registered again',
    async (website) => {
      await remove(website);
      await add(website.domain);
    },
  ],
  [
    'deleted and registered by another account',
    async (website) => {
      await remove(website);
      await add(website.domain, other);
    },
  ],
  ['changed to another domain', (website) => move(website, freshDomain())],
  [
    'changed to another domain, with another website on its domain',
    async (website) => {
      const successor = await add();
      await move(website, freshDomain());
      await move(successor, website.domain);
    },
  ],
  ['taken over by a proof', takeOver],
];

describe.each(endings)('a website that was %s after the email was sent', (_what, end) => {
  test('rejects the link and the code, and the page reports that the link is no longer valid', async () => {
    const { website, client, email, mail } = await begin();
    await end(website);
    for (const instance of [service, second]) {
      const begun = instance.client();
      begun.cookies = new Map(client.cookies);
      const page = await begun.get(mail.link);
      expect([page.status, page.headers.location]).toEqual([200, undefined]);
      const { link, target } = JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(page.text)?.[1] ?? '{}');
      const [{ registered }] = await stage.query('select count(*)::int as registered from websites where domain = $1', [website.domain]);
      expect(link.state).toBe('gone');
      expect(link.again.startsWith(registered === 1 ? '/auth?forward_url=' : `https://${website.domain}`)).toBe(true);
      expect(target.host).toBe(website.domain);
      expect((await confirmLink(instance.client(), mail, email)).json.code).toBe('bad_link');
      expect((await begun.post('/api/auth/email-code', { email, code: mail.code })).json.code).toBe('bad_code');
    }
    expect(await stage.query('select 1 from tokens where email = $1', [email])).toEqual([]);
    expect(await stage.query('select consumed_at from sign_in_attempts where email = $1', [email])).toEqual([{ consumed_at: null }]);
  });

  test('has no tokens any more at any instance', async () => {
    const { website, client, mail } = await begin();
    const token = tokenOf(await openLink(client, mail));
    await end(website);
    for (const instance of [service, second]) {
      const response = await instance.client().get(`/api/verify-token?token=${token}&domain=${website.domain}`);
      expect(response.json).toEqual({ email: null, valid: false, reason: 'unknown' });
    }
  });
});

test('a remembered account gets no token for a deleted website', async () => {
  const { website, client, email, mail } = await begin();
  await openLink(client, mail);
  const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
  const forward_url = `https://${website.domain}/`;
  const before = tokenOf((await client.post('/api/auth/validate-key', { email, key, forward_url })).json.redirectUrl);
  await remove(website);
  expect((await client.post('/api/auth/validate-key', { email, key, forward_url })).status).toBe(401);
  expect((await service.client().get(`/api/verify-token?token=${before}`)).json.reason).toBe('unknown');
});

test('a new registration accepts sign-ins at once, and keeps open attempts after a changed icon or a proof of its own account', async () => {
  const { website, client, email, mail } = await begin();
  await remove(website);
  await add(website.domain);
  await requestEmail(client, email, `https://${website.domain}/`);
  const newer = await stage.mailbox.waitFor(email);
  expect(newer.link).not.toBe(mail.link);
  await stage.query('update websites set proven_at = now(), claimed_at = coalesce(claimed_at, now()) where domain = $1', [website.domain]);
  await owner.client.put(`/api/websites/${website.id}`, { domain: website.domain });
  const token = tokenOf(await openLink(client, newer));
  expect((await service.client().get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true, domain: website.domain });
});
