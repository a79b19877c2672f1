import { expect, test } from 'vitest';
import { randomSecret } from '../../server/platform/secrets.ts';
import { newAttempt } from '../../server/signin/request.ts';
import { RequestStore } from '../../server/signin/request-store.ts';
import { REQUEST_EMAILS } from '../../server/signin/sql-functions.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { useDatabase } from './database.ts';

const { core } = await useDatabase();

/** A request for an email to the portal, as RequestStore has it, from a browser that no one knows. */
const request = (email: string, clientAddress: string) => {
  const [attempt, device] = [randomSecret(), randomSecret()];
  const browser = { attempt, device, session: undefined, clientAddress, userAgent: '' };
  return { ...newAttempt(email, 'en', browser), kind: 'portal' as const, mailKind: 'portal_sign_in', mailData: {} };
};

/** A store as each of several instances has it. */
const store = () => new RequestStore(core, { limitFactor: 1, mailsPerNetwork: 30 });

const attemptsOf = async (email: string) => (await core.query('select from sign_in_attempts where email = $1', [email])).rowCount;

test('of racing requests at several instances, exactly as many send an email as the limit of a mailbox allows', async () => {
  const email = freshAddress();
  const stores = Array.from({ length: 8 }, store);
  const results = await Promise.all(Array.from({ length: 80 }, (_, n) => stores[n % 8].request(request(email, `203.0.${n}.1`))));
  const sent = results.filter(({ status }) => status === 'sent');
  expect(sent).toHaveLength(10);
  expect(results.filter((result) => result.status === 'limited' && result.limit === 'mailbox')).toHaveLength(70);
  expect(await attemptsOf(email)).toBe(10);
});

test('batches with the same mailboxes and networks in another order never wait for each other in a circle', async () => {
  const mailboxes = Array.from({ length: 16 }, freshAddress);
  const call = (order: number[]) => {
    const rows = order.map((n) => {
      const { browser, device, clientAddress, mailKind, mailData, ...rest } = request(mailboxes[n], `198.18.${n}.1`);
      return { ...rest, browser: browser.toString('hex'), address: clientAddress, mail_kind: mailKind, mail_data: mailData };
    });
    const values = [JSON.stringify(rows), false, 60, 1000, 1000, 1000, 1000, 0, 1, 1000];
    return core.query<{ status: string }>(`select * from ${REQUEST_EMAILS.name}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, values);
  };
  const forwards = mailboxes.map((_, n) => n);
  const orders = [forwards, forwards.toReversed(), forwards.map((n) => (n * 7) % 16), forwards.map((n) => (n * 11 + 3) % 16)];
  const racers = orders.map(async (order) => {
    for (let round = 0; round < 60; round++) {
      const { rows } = await call(order);
      expect(rows.every(({ status }) => status === 'sent')).toBe(true);
    }
  });
  await Promise.all(racers);
});

test('of several requests in one batch that a limit does not let pass, the first ones send an email', async () => {
  const email = freshAddress();
  const one = store();
  const results = await Promise.all([1, 2, 3, 4, 5].map(() => one.request(request(email, '192.0.2.77'))));
  expect(results.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent', 'limited', 'limited']);
});

test('a request that PostgreSQL refuses does not fail the others of its batch', async () => {
  const [bad, good] = [freshAddress(), freshAddress()];
  const one = store();
  const results = await Promise.allSettled([
    one.request({ ...request(bad, '192.0.2.78'), mailData: { host: '\0' } }),
    one.request(request(good, '192.0.2.79')),
  ]);
  expect(results).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: { status: 'sent' } }]);
  expect([await attemptsOf(bad), await attemptsOf(good)]).toEqual([0, 1]);
});
