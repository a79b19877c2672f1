import { beforeAll, describe, expect, test } from 'vitest';
import type { SignInBoot } from '../../contract/pages.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import {
  addWebsite,
  authorize,
  confirmLink,
  freshAddress,
  freshDomain,
  openLink,
  registerWebsite,
  requestEmail,
  tokenOf,
} from '../support/sign-ins.ts';

const { stage, service } = await useService();
let domain: string;
beforeAll(async () => {
  domain = await addWebsite(stage, service);
});

const bootOf = ({ text }: HttpResponse): SignInBoot => JSON.parse(/id="boot">(.*?)<\/script>/s.exec(text)?.[1] ?? '{}');
/** Returns the link of a page, of any state. */
const linkOf = async (client: Client, link: string) => bootOf(await client.get(link)).link as Record<string, unknown> | undefined;
const expire = (email: string) =>
  stage.query("update sign_in_attempts set expires_at = now() - interval '1 second' where email = $1", [email]);
const setTries = (email: string) => stage.query('update sign_in_attempts set secret_tries = 5 where email = $1', [email]);

/** Requests an email for a website in a new browser. */
async function begin(forward_url = `https://${domain}/welcome?from=shop`) {
  const [client, email] = [service.client(), freshAddress()];
  await client.post('/api/auth/domain-auth', { email, forward_url, max_age: 600, language: 'lt' });
  const page = `/auth?${new URLSearchParams({ forward_url, max_age: '600', language: 'lt' })}`;
  return { client, email, page, mail: await stage.mailbox.waitFor(email) };
}
type Begun = Awaited<ReturnType<typeof begin>>;

const endings: [string, string, (begun: Begun) => Promise<unknown>][] = [
  ['was used in another browser', 'used', ({ mail, email }) => confirmLink(service.client(), mail, email)],
  ['has expired', 'expired', ({ email }) => expire(email)],
  ['was tried with five wrong addresses', 'expired', ({ email }) => setTries(email)],
];

describe.each(endings)('a link that %s', (_, state, end) => {
  test('offers the browser that requested it another email, for an hour, to the same address and destination', async () => {
    const begun = await begin();
    const { client, email, page, mail } = begun;
    await end(begun);
    // As after the ten minutes of an attempt.
    client.cookies.delete('attempt');
    const form = { action: page, fields: { email } };
    const again = `${page}&${new URLSearchParams({ login_hint: email })}`;
    expect(await linkOf(client, mail.link)).toEqual({ state, again, resend: { maskedEmail: 'a•••@mail.example', form } });
    expect(bootOf(await client.get(again)).steps).toMatchObject({ step: 'address', email });
    const response = await client.form(form.action, form.fields);
    expect([response.status, response.headers.location]).toEqual([303, `${page}&step=code`]);
    const location = await openLink(client, await stage.mailbox.waitFor(email));
    expect(location).toBe(`https://${domain}/welcome?from=shop&token=${tokenOf(location)}`);
    const [{ destination }] = await stage.query('select destination from sign_in_attempts where email = $1 order by id desc limit 1', [
      email,
    ]);
    expect(destination).toMatchObject({ conditions: { maxAge: 600, passkey: false } });
  });

  test('tells no other browser the address, and lets it send nothing', async () => {
    const begun = await begin();
    await end(begun);
    for (const cookie of [null, '', 'x', Buffer.alloc(32).toString('base64url')]) {
      const other = service.client();
      await requestEmail(other, freshAddress(), `https://${domain}/`);
      if (cookie !== null) other.cookies.set('requested', cookie);
      const response = await other.get(begun.mail.link);
      expect(bootOf(response).link).toEqual({ state, again: begun.page });
      expect(response.text).not.toContain(begun.email);
      expect(response.text).not.toContain('a•••@');
      expect(response.text).not.toContain('<form method="post"');
    }
  });
});

test('the request has the limits of any other one', async () => {
  const { client, email, page } = await begin();
  await expire(email);
  await stage.query(
    `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
     on conflict (key) do update set hits = excluded.hits`,
    [email],
  );
  // A browser that is known for the address by a sign-in would have counters of its own.
  client.cookies.delete('device');
  const response = await client.form(page, { email });
  expect(response.status).toBe(429);
  expect(bootOf(response)).toMatchObject({ steps: { step: 'address', email }, failure: { form: 'address', code: 'rate_limited' } });
});

test('a link of a website that is not registered any more leads to the website alone, until it is registered again', async () => {
  const gone = freshDomain();
  const register = () => stage.query('insert into websites (id, domain, claimed_at) values (gen_random_uuid(), $1, now())', [gone]);
  await register();
  const { client, email, page, mail } = await begin(`https://${gone}/welcome`);
  await stage.query('delete from websites where domain = $1', [gone]);
  expect(await linkOf(client, mail.link)).toEqual({ state: 'gone', again: `https://${gone}` });
  await register();
  expect(await linkOf(client, mail.link)).toMatchObject({ state: 'gone', resend: { form: { action: page, fields: { email } } } });
});

test('a link of the portal offers another email, which needs no script', async () => {
  const client = service.client();
  const { email } = await authorize(client);
  const { link } = await stage.mailbox.waitFor(email);
  await expire(email);
  client.cookies.delete('attempt');
  const form = { action: '/auth?language=en', fields: { email } };
  expect(await linkOf(client, link)).toMatchObject({ state: 'expired', resend: { maskedEmail: 'd•••@mail.example', form } });
  expect((await linkOf(service.client(), link))?.resend).toBeUndefined();
  expect((await client.form(form.action, form.fields)).headers.location).toBe('/auth?language=en&step=code');
  expect(await openLink(client, await stage.mailbox.waitFor(email))).toMatch(/\/developer\?token=/);
});

test('the link of a registration offers no email to the browser that registered the website', async () => {
  const [client, email] = [service.client(), freshAddress('owner')];
  await registerWebsite(client, freshDomain(), email);
  const { link } = await stage.mailbox.waitFor(email);
  await requestEmail(client, email);
  await setTries(email);
  expect(await linkOf(client, link)).toEqual({ state: 'expired', again: '/auth?language=en' });
});
