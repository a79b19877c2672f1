// A stage of its own: its services start as compose.yaml says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../../support/client.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { hasPgBouncer } from '../../support/pgbouncer.ts';
import { hasProxy } from '../../support/proxies.ts';
import { addWebsite, freshAddress, visitorToken } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { type ComposedPrograms, readCompose, startComposed } from './compose.ts';
import { composeErrors } from './tools.ts';

describe('compose.yaml', () => {
  test('follows the schema of the Compose specification', async () => {
    const file = await readCompose(null);
    expect(await composeErrors(file)).toEqual([]);
    expect(await composeErrors({ ...file, services: { a: { imagee: 'x' } } })).not.toEqual([]);
  });

  test('gives every container a read-only root, no capabilities, no new privileges and a health check', async () => {
    const { services } = await readCompose(null);
    expect(Object.keys(services)).toEqual(['emailauth-1', 'emailauth-2', 'caddy', 'pgbouncer', 'postgres', 'mail']);
    for (const [name, service] of Object.entries(services)) {
      const { read_only, cap_drop, security_opt, healthcheck } = service;
      // The service has the health check of its image.
      const isChecked = name.startsWith('emailauth-') || healthcheck !== undefined;
      expect([name, read_only, cap_drop, security_opt, isChecked]).toEqual([name, true, ['ALL'], ['no-new-privileges:true'], true]);
    }
  });

  test('has no secret, and names the ones that are missing in .env', async () => {
    const { services } = await readCompose(null);
    for (const [name, value] of Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment))) {
      // Secrets are variables only, also inside of a URL.
      if (/PASSWORD|SECRET|KEY|TOKEN/.test(name)) expect([name, value]).toEqual([name, expect.stringMatching(/^\$\{\w+[^}]*\}$/)]);
      expect([name, value]).toEqual([name, expect.not.stringMatching(/:\/\/[\w.-]+:[^$@]*@/)]);
    }
    const complete = { DOMAIN: 'auth.example.com', POSTGRES_PASSWORD: 'p', SECRET_KEY: 's' };
    for (const name of Object.keys(complete)) {
      await expect(readCompose({ ...complete, [name]: '' })).rejects.toThrow(`${name} is missing in .env`);
    }
    expect((await readCompose(complete)).services['emailauth-1'].environment).toMatchObject({ PUBLIC_URL: 'https://auth.example.com' });
  });
});

const canStart = hasPgBouncer && hasProxy('caddy');
if (!canStart) console.warn('\n!! Starting compose.yaml is skipped: on Debian, apt-get install pgbouncer caddy\n');

describe.skipIf(!canStart)('what compose.yaml describes, started with the programs of this machine', () => {
  let stage: Stage;
  let programs: ComposedPrograms;
  let domain: string;
  let certificate: string;
  const instances: { running: Service; start(): Promise<Service> }[] = [];

  beforeAll(async () => {
    stage = await openStage({ empty: true });
    const ports = { instances: [await freePort(), await freePort()], smtp: Number(new URL(stage.mailbox.url).port) };
    domain = `localhost:${await freePort()}`;
    const secrets = { POSTGRES_PASSWORD: 'a-password', SECRET_KEY: 'k'.repeat(48) };
    const compose = await readCompose({ DOMAIN: domain, MAIL_FROM: 'no-reply@mail.example', ...secrets });
    programs = await startComposed(compose, ports);
    for (const [index, port] of ports.instances.entries()) {
      const { environment = {} } = compose.services[`emailauth-${index + 1}`];
      const composed = Object.entries(environment).map(([name, value]) => [name, programs.here(value)]);
      // The drain is that of production, so that Caddy's health checks notice it.
      const settings = { ...Object.fromEntries(composed), PORT: String(port), DRAIN_SECONDS: '' };
      const start = () => stage.start(settings);
      instances.push({ running: await start(), start });
    }
    certificate = await programs.startCaddy(domain);
  });
  afterAll(async () => {
    await stage?.close();
    await programs?.stop();
  });

  /** The service behind the proxy; every client is a browser at its https address. */
  const proxied = (): Service => ({
    ...instances[0].running,
    url: `https://${domain}`,
    client: () => new Client(`https://${domain}`, certificate),
  });

  test('signs a developer and a visitor in over TLS, through the pooler', async () => {
    const website = await addWebsite(stage, proxied());
    const email = freshAddress();
    const token = await visitorToken(stage, proxied().client(), website, email);
    const verified = await proxied().client().get(`/api/verify-token?token=${token}&domain=${website}`);
    expect([verified.status, verified.json]).toEqual([200, expect.objectContaining({ valid: true, email })]);
    expect((await stage.mailbox.mailsFor(email))[0].link).toMatch(`https://${domain}/auth/link?`);
    expect(await programs.isPoolerHealthy()).toBe(true);
  });

  test('answers every request while the instances are replaced one by one', async () => {
    const client = proxied().client();
    const results: (number | string)[] = [];
    let isDone = false;
    const requests = (async () => {
      while (!isDone) {
        const result = await client.get('/api/about').then(
          ({ status }) => status,
          (error: Error) => error.message,
        );
        results.push(result);
      }
    })();
    for (const instance of instances) {
      expect(await instance.running.stop()).toBe(0);
      instance.running = await instance.start();
    }
    isDone = true;
    await requests;
    expect([...new Set(results)]).toEqual([200]);
  });
});
