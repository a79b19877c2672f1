import { afterEach, expect, test, vi } from 'vitest';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { Limits } from '../../server/platform/http/limits.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { useDatabase } from './database.ts';

const { core } = await useDatabase();
const { points, duration } = RATE_LIMITS.uploads;
/** Two instances of the service. */
const [first, second] = [new Limits(core, 1), new Limits(core, 1)];

const inTurn = (n: number) => (n % 2 === 0 ? first : second);
const refusal = { code: 'rate_limited', status: 429, message: RATE_LIMITS.uploads.message };

const setWindow = (key: string, change: string) =>
  core.query(`update rate_limits set resets_at = resets_at + interval '${change}' where key = 'uploads ' || $1`, [key]);

afterEach(() => vi.useRealTimers());

test('of concurrent uses at two instances, exactly as many are permitted as the limit allows', async () => {
  const key = freshAddress();
  const uses = await Promise.allSettled(Array.from({ length: points + 20 }, (_, n) => inTurn(n).hit('uploads', key)));
  const refused = uses.flatMap((use) => (use.status === 'rejected' ? [use.reason] : []));
  expect(refused).toHaveLength(20);
  for (const fault of refused) {
    expect(fault).toMatchObject(refusal);
    expect(fault.retryAfter).toBeGreaterThan(duration - 60);
    expect(fault.retryAfter).toBeLessThanOrEqual(duration);
  }
});

test('a use above the limit is refused without a query from then on, by the instance that has seen it', async () => {
  const key = freshAddress();
  for (let n = 0; n < points; n++) await first.hit('uploads', key);
  first.refuseBlocked('uploads', key);
  await expect(first.hit('uploads', key)).rejects.toMatchObject(refusal);
  expect(() => first.refuseBlocked('uploads', key)).toThrow(RATE_LIMITS.uploads.message);
  second.refuseBlocked('uploads', key);
  first.refuseBlocked('uploads', freshAddress());
  first.refuseBlocked('logo_checks', key);
});

test('a use that is given back may be made again; one of a window that has ended gives nothing back', async () => {
  const key = freshAddress();
  for (let n = 0; n < points; n++) await first.hit('uploads', key);
  await second.giveBack('uploads', key);
  await first.hit('uploads', key);
  await expect(second.hit('uploads', key)).rejects.toMatchObject(refusal);

  await setWindow(key, `-${duration} seconds`);
  await first.giveBack('uploads', key);
  for (let n = 0; n < points; n++) await first.hit('uploads', key);
  await expect(first.hit('uploads', key)).rejects.toMatchObject(refusal);
});

test('a window begins with its first use, and is not extended by the others', async () => {
  const key = freshAddress();
  await first.hit('uploads', key);
  await setWindow(key, `-${duration - 60} seconds`);
  for (let n = 1; n < points; n++) await first.hit('uploads', key);
  const fault = await first.hit('uploads', key).catch((error) => error);
  expect(fault).toMatchObject(refusal);
  expect(fault.retryAfter).toBeLessThanOrEqual(60);
});

test('a limit of one process is that of this process alone, and begins again after its window', () => {
  const limit = RATE_LIMITS.authorization_requests;
  const use = (limits: Limits) => limits.hitHere('authorization_requests', '192.0.2.1');
  vi.useFakeTimers({ toFake: ['Date'] });
  for (let n = 0; n < limit.points; n++) use(first);
  expect(() => use(first)).toThrow(limit.message);
  use(second);
  vi.setSystemTime(Date.now() + limit.duration * 1000 - 1);
  expect(() => use(first)).toThrow(limit.message);
  vi.setSystemTime(Date.now() + 1);
  use(first);
});
