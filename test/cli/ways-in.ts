import { production, type Service, type Stage } from '../support/harness.ts';
import { png } from '../support/images.ts';
import {
  authorize,
  codeOf,
  exchange,
  freshAddress,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
  visitorToken,
} from '../support/sign-ins.ts';

/** A credential and a check whether it is valid now, which may use it up. */
export type WayIn = { name: string; works(): Promise<boolean> };

/** Creates one unused credential of each kind that the service issues. @param domain a website without a limit of visitors */
export async function issueWaysIn(stage: Stage, service: Service, domain: string): Promise<WayIn[]> {
  const ways: WayIn[] = [];
  const add = (name: string, works: () => Promise<boolean>) => void ways.push({ name, works });
  const mailTo = (email: string) => stage.mailbox.waitFor(email);

  const developer = await signInDeveloper(stage, service);
  add('session cookie', async () => (await developer.client.get('/api/user/me')).status === 200);
  const sid = developer.client.cookies.get('sid');
  add('session as a bearer', async () => (await service.client().get('/api/user/me', { Authorization: `Bearer ${sid}` })).status === 200);
  add('remembered account of the portal', async () => {
    const again = service.client();
    again.cookies.set('device', developer.client.cookies.get('device') ?? '');
    return (await again.post('/api/auth/validate-key', { email: developer.email, key: developer.authKey })).status === 200;
  });
  const { uploadURL } = (await developer.client.post('/api/objects/upload')).json;
  const sending = { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } };
  add('upload address', async () => (await service.client().send(uploadURL, sending)).status === 200);

  const admin = service.client();
  await admin.post('/api/admin/verify', { password: production.ADMIN_PASSWORD });
  add('admin session', async () => (await admin.get('/api/admin/daily-login-stats')).status === 200);

  const token = await visitorToken(stage, service.client(), domain);
  add('token of a site', async () => (await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`)).json.valid === true);

  const [portal, portalEmail] = [service.client(), freshAddress()];
  await requestEmail(portal, portalEmail);
  const portalToken = tokenOf(await openLink(portal, await mailTo(portalEmail)));
  add(
    'token of the portal',
    async () => (await portal.post('/api/auth/token-login', { token: portalToken, confirm: true })).status === 200,
  );

  const visit = async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${domain}/`);
    return { client, email, mail: await mailTo(email) };
  };
  const [byLink, byCode, elsewhere] = [await visit(), await visit(), await visit()];
  add('mailed link', async () => (await byLink.client.get(byLink.mail.link)).status === 303);
  add('mailed code', async () => {
    const { client, email, mail } = byCode;
    return (await client.post('/api/auth/email-code', { email, code: mail.code })).status === 200;
  });
  add('mailed link in another browser', async () => {
    const t = new URL(elsewhere.mail.link).searchParams.get('t');
    return (await service.client().post('/api/auth/confirm-link', { t, email: elsewhere.email })).status === 200;
  });

  const [linkBegun, codeBegun] = [await authorize(service.client()), await authorize(service.client())];
  const [linkMail, codeMail] = [await mailTo(linkBegun.email), await mailTo(codeBegun.email)];
  add('PKCE challenge, by link', async () => {
    return (await exchange(service.client(), codeOf(linkMail), linkBegun.pkce.codeVerifier)).status === 200;
  });
  add('PKCE challenge, by code', async () => {
    const { email, pkce, attempt } = codeBegun;
    const { json } = await service.client().post('/api/auth/email-code', { email, code: codeMail.code, state: pkce.state, attempt });
    return json.code !== undefined && (await exchange(service.client(), json.code, pkce.codeVerifier)).status === 200;
  });
  return ways;
}

/** Returns the names of the valid credentials. */
export async function thatWork(ways: WayIn[]): Promise<string[]> {
  const open: string[] = [];
  for (const { name, works } of ways) if (await works()) open.push(name);
  return open;
}
