import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type LogoServer, openLogoServer } from '../support/logo-server.ts';
import { type Developer, freshAddress, freshDomain, openLink, requestEmail, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service, names } = await useService();
let logos: LogoServer;
let ann: Developer;
let bob: Developer;
beforeAll(async () => {
  logos = await openLogoServer(names);
  ann = await signInDeveloper(stage, service);
  bob = await signInDeveloper(stage, service);
});
afterAll(async () => {
  await logos.close();
});

const actionsOf = async (email: string) =>
  (await stage.query('select action from audit_log where email = $1 order by id desc', [email])).map(({ action }) => action);

describe('settings', () => {
  test('are stored, and each change is recorded once in the audit log', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    expect((await client.get('/api/user/settings')).json).toEqual({
      email,
      name: '',
      organisation: '',
      plan: 'Free',
      branding: { fromName: '', logoUrl: '' },
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const branding = { fromName: 'Žalia & Co. ’s', logoUrl: logos.url('/logo.png?v=2') };
    expect((await client.put('/api/user/profile', { name: '  Ana Žukauskaitė ' })).json).toMatchObject({ name: 'Ana Žukauskaitė' });
    expect((await client.put('/api/user/organisation', { organisation: 'Žalia' })).json).toMatchObject({ organisation: 'Žalia' });
    expect((await client.put('/api/user/branding', branding)).json).toMatchObject({ branding, name: 'Ana Žukauskaitė' });
    // Sending the same values again changes nothing.
    expect((await client.put('/api/user/branding', branding)).status).toBe(200);
    expect((await client.put('/api/user/profile', { name: 'Ana Žukauskaitė' })).status).toBe(200);
    expect((await client.get('/api/user/settings')).json).toMatchObject({ name: 'Ana Žukauskaitė', organisation: 'Žalia', branding });
    expect((await client.get('/api/user/me')).json.name).toBe('Ana Žukauskaitė');
    expect(await actionsOf(email)).toEqual([
      'branding_changed',
      'organisation_changed',
      'profile_changed',
      'developer_signed_in',
      'sign_in_requested',
    ]);

    await client.put('/api/user/profile', { name: '' });
    expect((await client.get('/api/user/me')).json.name).toBeNull();
    await client.put('/api/user/branding', { fromName: '', logoUrl: '' });
    expect((await client.get('/api/user/settings')).json.branding).toEqual({ fromName: '', logoUrl: '' });
  });

  test('ignore fields of other calls, and do not change another account', async () => {
    const before = (await bob.client.get('/api/user/settings')).json;
    const { id: bobsId } = (await bob.client.get('/api/user/me')).json;
    const more = { id: bobsId, userId: bobsId, user_id: bobsId, email: bob.email, plan: 'Pro', createdAt: '2020-01-01', brand_name: 'x' };
    const changed = await ann.client.put('/api/user/profile', { name: 'Ann', organisation: 'smuggled', ...more });
    expect(changed.json).toMatchObject({
      email: ann.email,
      name: 'Ann',
      organisation: '',
      plan: 'Free',
      branding: { fromName: '', logoUrl: '' },
    });
    await ann.client.put('/api/user/organisation', { organisation: 'A', name: 'smuggled', ...more });
    await ann.client.put('/api/user/branding', { fromName: '', logoUrl: '', name: 'smuggled', ...more });
    expect((await ann.client.get('/api/user/settings')).json).toMatchObject({ email: ann.email, name: 'Ann', organisation: 'A' });
    expect((await bob.client.get('/api/user/settings')).json).toEqual(before);
  });

  const hostile = [
    'two\r\nlines',
    'a\nBcc: eve@example.com',
    'tab\there',
    'nul\0',
    'bell\u0007',
    'escape\u001b[31m',
    'next\u0085line',
    'a\u2028b',
    'a\u2029b',
    'right\u202eto left',
    'isolate\u2066x',
    'zero\u200bwidth',
    'mark\ufeffx',
    'soft\u00adhyphen',
    'private \ue000link\ue001',
    'x'.repeat(81),
    ['a'],
    { a: 1 },
    7,
    null,
    undefined,
  ];
  test.each(hostile)('reject the name %j with a message and change nothing', async (text) => {
    const before = (await ann.client.get('/api/user/settings')).text;
    for (const [path, body] of [
      ['/api/user/profile', { name: text }],
      ['/api/user/organisation', { organisation: text }],
      ['/api/user/branding', { fromName: text, logoUrl: '' }],
    ] as const) {
      const response = await ann.client.put(path, body);
      expect([path, response.status, response.json.code]).toEqual([path, 400, 'bad_request']);
      expect(response.json.error).toMatch(/\w+ \w+/);
    }
    expect((await ann.client.get('/api/user/settings')).text).toBe(before);
  });

  test.each([
    'eve@example.com',
    'Shop <eve@example.com',
    'a, b',
    'a; b',
    'a: b',
    '"a"',
    'a\\',
    'eve\uff20example.com',
    'Shop \ufe64eve\ufe65',
    'x'.repeat(61),
  ])('reject the From name %j', async (fromName) => {
    const response = await ann.client.put('/api/user/branding', { fromName, logoUrl: '' });
    expect([response.status, response.json.field]).toEqual([400, 'fromName']);
  });

  test.each([
    'javascript:alert(1)',
    'http://shop.example/logo.png',
    'data:image/png;base64,AAAA',
    '//shop.example/logo.png',
    'https://',
    'https://logo',
    'https://192.168.0.1/logo.png',
    'https://0x7f000001.1/logo.png',
    'https://user:secret@shop.example/logo.png',
    'https://shop.example/a b.png',
    'https://shop.example/"><script>',
    'https://shop.example/\r\nBcc:x',
    'https://shop.example/ž.png',
    `https://shop.example/${'x'.repeat(500)}`,
    ['https://shop.example/logo.png'],
  ])('reject the logo URL %j', async (logoUrl) => {
    const response = await ann.client.put('/api/user/branding', { fromName: '', logoUrl });
    expect([response.status, response.json.field]).toEqual([400, 'logoUrl']);
  });
});

describe('the audit log', () => {
  test('lists only the actions of the account, newest first', async () => {
    const developer = await signInDeveloper(stage, service);
    const domain = freshDomain();
    await developer.client.post('/api/websites', { domain });
    await developer.client.put('/api/user/profile', { name: 'Dev' });
    // Visitors' sign-ins must not be listed: neither by the developer's address nor at the developer's website.
    await requestEmail(developer.client, developer.email, `https://${domain}/`);
    await openLink(developer.client, await stage.mailbox.waitFor(developer.email));
    const visitorEmail = freshAddress();
    const visitor = service.client();
    await requestEmail(visitor, visitorEmail, `https://${domain}/`);
    await openLink(visitor, await stage.mailbox.waitFor(visitorEmail));
    await bob.client.put('/api/user/profile', { name: freshAddress() });

    const { json } = await developer.client.get('/api/audit-logs');
    expect(json.map(({ action, domain: site }: Record<string, unknown>) => [action, site])).toEqual([
      ['profile_changed', null],
      ['website_added', domain],
      ['developer_signed_in', null],
    ]);
    const about = ['object', 'actor', 'device', 'network'];
    expect(Object.keys(json[0]).sort()).toEqual(['id', 'action', 'createdAt', 'domain', 'displayDomain', 'manages', ...about].sort());
    expect((await developer.client.get('/api/audit-logs?limit=1')).json).toHaveLength(1);
    for (const limit of ['0', '101', '-1', 'x', '1.5', '1&limit=2']) {
      expect([limit, (await developer.client.get(`/api/audit-logs?limit=${limit}`)).status]).toEqual([limit, 400]);
    }
    expect((await developer.client.get(`/api/audit-logs?email=${bob.email}`)).json).toHaveLength(3);
  });

  test('name what was changed, at which website or application, and from which device and network', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    await stage.query("update sessions set label = 'Firefox on Linux' where user_id = (select id from users where email = $1)", [email]);
    const website = (await client.post('/api/websites', { domain: freshDomain() })).json;
    const application = (await client.post('/api/clients', { name: 'Back office', redirectUris: ['https://office.example/cb'] })).json;
    const { id, key } = (await client.post('/api/api-keys', { name: 'deploy', environment: 'live' })).json;
    const byKey = await service.client().post('/api/websites', { domain: freshDomain() }, { Authorization: `Bearer ${key}` });
    await client.delete(`/api/api-keys/${id}`);
    const rows = await stage.query(
      `select action, object, website_id as website, application_id as application, device, network from audit_log
       where email = $1 and action not in ('sign_in_requested', 'signed_in') order by id`,
      [email],
    );
    const none = {
      object: null,
      website: null,
      application: null,
      device: 'Firefox on Linux',
      network: expect.stringMatching(/\/(?:24|48)$/),
    };
    expect(rows).toEqual([
      { ...none, action: 'developer_signed_in', device: expect.any(String) },
      { ...none, action: 'website_added', website: website.id },
      { ...none, action: 'application_added', object: 'Back office', application: application.id },
      { ...none, action: 'api_key_created', object: 'deploy' },
      { ...none, action: 'website_added', website: byKey.json.id, device: 'API key deploy' },
      { ...none, action: 'api_key_revoked', object: 'deploy' },
    ]);
    const listed = async () => (await client.get('/api/audit-logs')).json.reverse();
    expect(await listed()).toMatchObject(
      rows.map(({ action, object, device, network }) => ({ action, object, device, network, actor: null })),
    );
    const managesOf = async () => (await listed()).flatMap((row: Record<string, unknown>) => (row.domain ? [row.manages] : []));
    expect(await managesOf()).toEqual([true, true]);
    await client.delete(`/api/websites/${website.id}`);
    expect(await managesOf()).toEqual([false, true, false]);
  });

  test('can be filtered by action, website and day, and read in pages', async () => {
    const developer = await signInDeveloper(stage, service);
    const [domain, other] = [freshDomain(), freshDomain()];
    for (const each of [domain, other]) await developer.client.post('/api/websites', { domain: each });
    await stage.query("insert into audit_log (at, action, email) values (now() - interval '3 days', 'profile_changed', $1)", [
      developer.email,
    ]);
    const actionsOf = async (query: string) =>
      (await developer.client.get(`/api/audit-logs?${query}`)).json.map(({ action }: { action: string }) => action);
    const [today, before] = [0, 3].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10));
    expect(await actionsOf('action=website_added')).toEqual(['website_added', 'website_added']);
    expect(await actionsOf('action=website')).toEqual(['website_added', 'website_added']);
    expect(await actionsOf('action=profile,developer')).toEqual(['profile_changed', 'developer_signed_in']);
    expect(await actionsOf('action=web')).toEqual([]);
    expect(await actionsOf(`domain=${domain.toUpperCase()}`)).toEqual(['website_added']);
    expect(await actionsOf(`domain=${domain.split('.')[0]}&action=website`)).toEqual(['website_added']);
    expect(await actionsOf(`from=${today}`)).toHaveLength(3);
    expect(await actionsOf(`from=${before}&to=${before}`)).toEqual(['profile_changed']);
    const { json: first } = await developer.client.get('/api/audit-logs?limit=2');
    const { json: rest } = await developer.client.get(`/api/audit-logs?limit=100&before=${first[1].id}`);
    expect([first.length, rest.length]).toEqual([2, 2]);
    for (const query of ['action=a-b', 'from=yesterday', 'to=2026-13-01', 'before=x'])
      expect([query, (await developer.client.get(`/api/audit-logs?${query}`)).status]).toEqual([query, 400]);
  });
});

test('an account joins a waitlist only once', async () => {
  const { client, email } = await signInDeveloper(stage, service);
  expect((await client.get('/api/waitlist')).json).toEqual({ joined: [] });
  const responses = await Promise.all(Array.from({ length: 8 }, () => client.post('/api/waitlist', { service: 'bugs', email: bob.email })));
  for (const { json } of responses) expect(json).toEqual({ joined: ['bugs'] });
  expect((await client.post('/api/waitlist', { service: 'analytics' })).json).toEqual({ joined: ['analytics', 'bugs'] });
  expect((await client.get('/api/waitlist')).json).toEqual({ joined: ['analytics', 'bugs'] });
  expect((await bob.client.get('/api/waitlist')).json).toEqual({ joined: [] });
  expect(await stage.query('select count(*)::int as n from waitlist where email = $1', [email])).toEqual([{ n: 2 }]);
  expect((await actionsOf(email)).filter((action) => action === 'waitlist_joined')).toHaveLength(2);
  for (const wrong of ['other', '', null, ['bugs'], '__proto__']) {
    expect((await client.post('/api/waitlist', { service: wrong })).status).toBe(400);
  }
});

test('every account call returns 401 without a session', async () => {
  const anonymous = service.client();
  for (const response of [
    await anonymous.get('/api/user/settings'),
    await anonymous.put('/api/user/profile', { name: 'x' }),
    await anonymous.put('/api/user/organisation', { organisation: 'x' }),
    await anonymous.put('/api/user/branding', { fromName: '', logoUrl: '' }),
    await anonymous.get('/api/user/devices'),
    await anonymous.delete(`/api/user/devices/${ann.localKey}`),
    await anonymous.post('/api/user/sign-out-everywhere'),
    await anonymous.get('/api/audit-logs'),
    await anonymous.get('/api/waitlist'),
    await anonymous.post('/api/waitlist', { service: 'bugs' }),
    await anonymous.get('/dashboard/settings/preview'),
  ]) {
    expect([response.status, response.json.code]).toEqual([401, 'sign_in_needed']);
  }
});
