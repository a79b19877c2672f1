// A stage of its own: it changes the DNS records of the sender, and doctor.test.ts takes the database away.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { expect } from 'vitest';
import { type NameServer, openNameServer } from '../support/dns.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { type Developer, signInDeveloper } from '../support/sign-ins.ts';
import { type Home, openHome, type Ran } from './command.ts';

export type Check = { id: string; name: string; ok: boolean | null; detail: string; fix: string };

/** A service with its mail domain, a signed-in developer, a name server, and `emailauth doctor` to check them. */
export type Clinic = {
  stage: Stage;
  service: Service;
  names: NameServer;
  owner: Developer;
  home: Home;
  /** The correct DKIM record. */
  dkimKey: string;
  /** Sets correct records for the mail domain. */
  healMail(): void;
  /** Runs `emailauth doctor --json` and checks the shape of its output. */
  diagnose(args?: string[], env?: Record<string, string>): Promise<{ ran: Ran; checks: Check[]; of(id: string): Check }>;
  /** Starts a server of any kind. @returns its port */
  listen(server: Server, address?: string, port?: number): Promise<number>;
  /** Starts a web server. @returns its origin */
  serve(listener: RequestListener): Promise<string>;
  close(): Promise<void>;
};

export const MAIL_DOMAIN = 'emailauth.example';

export async function openClinic(): Promise<Clinic> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const dkimKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const names = await openNameServer();
  const stage = await openStage();
  const service = await stage.start({
    DNS_SERVERS: names.address,
    DKIM_DOMAIN: MAIL_DOMAIN,
    DKIM_SELECTOR: 's1',
    DKIM_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  });
  const owner = await signInDeveloper(stage, service);
  const home = await openHome(service.url);
  home.env.DNS_SERVERS = names.address;
  home.env.EMAILAUTH_TOKEN = owner.client.cookies.get('sid') ?? '';
  const servers: Server[] = [];

  const listen: Clinic['listen'] = async (server, address = '127.0.0.1', port = 0) => {
    await once(server.listen(port, address), 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  return {
    stage,
    service,
    names,
    owner,
    home,
    dkimKey,
    healMail() {
      names.setMailServers(MAIL_DOMAIN, [`mx.${MAIL_DOMAIN}`]);
      names.setText(MAIL_DOMAIN, ['v=spf1 ip4:192.0.2.1 -all']);
      names.setText(`s1._domainkey.${MAIL_DOMAIN}`, [`v=DKIM1; k=rsa; p=${dkimKey}`]);
      names.setText(`_dmarc.${MAIL_DOMAIN}`, ['v=DMARC1; p=reject']);
    },
    async diagnose(args = [], env = {}) {
      const ran = await home.run(['doctor', ...args, '--json'], { env });
      const { checks }: { checks: Check[] } = ran.json();
      for (const check of checks) {
        expect(Object.keys(check)).toEqual(['id', 'name', 'ok', 'detail', 'fix']);
        expect(check.detail).not.toBe('');
        if (check.ok === false) expect(check.fix).not.toBe('');
      }
      expect(ran.exitCode).toBe(checks.some(({ ok }) => ok === false) ? 10 : 0);
      return { ran, checks, of: (id) => checks.find((check) => check.id === id) as Check };
    },
    listen,
    serve: async (listener) => `http://localhost:${await listen(createServer(listener))}`,
    async close() {
      for (const server of servers) {
        if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections();
        server.close();
      }
      await home.close();
      await names.close();
      await stage.close();
    },
  };
}
