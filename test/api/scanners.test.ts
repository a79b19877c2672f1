import { beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { addWebsite, authorize, codeOf, exchange, freshAddress, openLink, requestEmail, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let shop: string;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
});

describe('requests of email scanners and prefetching browsers do not consume a link', () => {
  test.each(['a visitor', 'a developer of the portal'])('of %s', async (who) => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, who === 'a visitor' ? `https://${shop}/` : undefined);
    const mail = await stage.mailbox.waitFor(email);
    for (const from of [client, service.client()]) {
      expect((await from.send(mail.link, { method: 'HEAD' })).status).toBe(200);
      expect((await from.send(mail.link, { method: 'OPTIONS' })).status).not.toBe(303);
      for (const headers of [
        { 'Sec-Purpose': 'prefetch' },
        { 'Sec-Purpose': 'prefetch;prerender' },
        { Purpose: 'prefetch' },
        { 'X-Moz': 'prefetch' },
        { 'X-Purpose': 'preview' },
      ] as Record<string, string>[]) {
        expect([headers, (await from.get(mail.link, headers)).status]).toEqual([headers, 200]);
      }
    }
    for (let i = 0; i < 20; i++) expect((await service.client().get(mail.link)).status).toBe(200);
    const anonymous = service.client();
    await requestEmail(anonymous, freshAddress(), `https://${shop}/`);
    expect((await anonymous.get(mail.link)).status).toBe(200);
    expect(tokenOf(await openLink(client, mail))).toMatch(/^[\w-]{43}$/);
  });

  test('of a PKCE sign-in', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const mail = await stage.mailbox.waitFor(email);
    for (let i = 0; i < 20; i++) expect((await service.client().get(mail.link)).status).toBe(200);
    await client.send(mail.link, { method: 'HEAD' });
    expect((await exchange(client, codeOf(mail), pkce.codeVerifier)).status).toBe(200);
  });
});
