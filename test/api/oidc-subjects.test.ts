import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type Changes, type OidcClient, signInAt, websiteClient } from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let owner: Developer;
let stranger: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
  stranger = await signInDeveloper(stage, service);
});

/** Adds a website of the owner. @returns its host */
async function addShop({ proven }: { proven: boolean }): Promise<string> {
  const host = await addWebsite(stage, service);
  await stage.query('update websites set email = $2, claimed_at = now() where domain = $1', [host, owner.email]);
  if (proven) await setProven(host, true);
  return host;
}

const setProven = (host: string, proven: boolean) =>
  stage.query('update websites set proven_at = case when $2 then now() end where domain = $1', [host, proven]);

type Application = OidcClient & { id: string };

async function addApplication(developer: Developer, redirectUris: string[]): Promise<Application> {
  const { status, text, json } = await developer.client.post('/api/clients', { name: 'Notes', redirectUris });
  if (status !== 200) throw new Error(text);
  return { id: json.id, clientId: json.clientId, redirectUri: redirectUris[0] };
}

async function change(developer: Developer, { id, clientId }: Application, redirectUris: string[], isActive = true): Promise<Application> {
  const { status, text } = await developer.client.put(`/api/clients/${id}`, { name: 'Notes', redirectUris, isActive });
  if (status !== 200) throw new Error(text);
  return { id, clientId, redirectUri: redirectUris[0] };
}

const email = freshAddress('visitor');
const subjectAt = async (client: OidcClient, changes: Changes = {}) =>
  decodeJwt((await signInAt(stage, service, client, { email, changes })).tokens.id_token).sub;

describe('the subjects of an application', () => {
  test('are those of a host only if all its redirect URIs are there and its owner has verified the domain', async () => {
    const host = await addShop({ proven: true });
    const unproven = await addShop({ proven: false });
    const shop = await subjectAt(websiteClient(host));
    expect(await subjectAt(await addApplication(owner, [`https://${host}/callback`, `https://${host}/other`]))).toBe(shop);
    const others = [
      await addApplication(stranger, [`https://${host}/callback`]),
      await addApplication(stranger, [`https://${host}/callback`, 'https://evil.example/cb']),
      await addApplication(owner, [`https://${host}/callback`, 'https://evil.example/cb']),
      await addApplication(owner, [`https://${host}/callback`, `https://www.${host}/callback`]),
      await addApplication(owner, [`https://${host}/callback`, `https://${host}:8443/callback`]),
      await addApplication(owner, [`https://${host}/callback`, 'http://localhost/callback']),
      await addApplication(owner, [`https://${host}/callback`, 'com.example.app:/callback']),
      await addApplication(owner, [`https://${unproven}/callback`]),
      await addApplication(owner, ['http://localhost/callback']),
      websiteClient(unproven),
    ];
    const subjects: unknown[] = [shop];
    for (const other of others) subjects.push(await subjectAt(other));
    expect(new Set(subjects).size).toBe(subjects.length);
  });

  test('are decided when its redirect URIs are saved, and never change once one was issued', async () => {
    const host = await addShop({ proven: false });
    const uris = [`https://${host}/callback`];
    let app = await addApplication(owner, uris);
    await setProven(host, true);
    app = await change(owner, app, uris);
    const shop = await subjectAt(websiteClient(host));
    expect(await subjectAt(app)).toBe(shop);
    await setProven(host, false);
    for (const redirectUris of [['https://new.example/cb'], ['http://localhost/cb', 'https://evil.example/cb'], uris]) {
      app = await change(owner, app, redirectUris);
      expect(await subjectAt(app)).toBe(shop);
    }
    await change(owner, app, uris, false);
    app = await change(owner, app, uris);
    expect(await subjectAt(app)).toBe(shop);
    await stage.query("update websites set email = 'new@owner.example' where domain = $1", [host]);
    expect(await subjectAt(websiteClient(host))).toBe(shop);
  });

  test('of an unproven host stay the same when the domain is verified later', async () => {
    const host = await addShop({ proven: false });
    const app = await addApplication(owner, [`https://${host}/callback`]);
    const [before, shop] = [await subjectAt(app), await subjectAt(websiteClient(host))];
    await setProven(host, true);
    await change(owner, app, [`https://${host}/callback`]);
    expect([await subjectAt(app), await subjectAt(websiteClient(host))]).toEqual([before, shop]);
    expect(before).not.toBe(shop);
  });
});
