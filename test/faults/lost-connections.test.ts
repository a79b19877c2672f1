// A stage of its own: it counts the connections of its service.
import { expect, test } from 'vitest';
import { openStage } from '../support/harness.ts';
import { waitUntil } from '../support/waiting.ts';

const LOSSES = 50;

/** Preloaded into the service: reports once every class of object that has more than 20 listeners of one event. */
const COUNTER = `
  import { EventEmitter, getEventListeners } from 'node:events';
  const known = new Set();
  const methods = [[EventEmitter, ['on', 'addListener', 'once', 'prependListener']], [EventTarget, ['addEventListener']]];
  for (const [{ prototype }, names] of methods) {
    for (const name of names) {
      const original = prototype[name];
      prototype[name] = function (type, ...rest) {
        const result = original.call(this, type, ...rest);
        const count = getEventListeners(this, type).length;
        const what = this.constructor.name + ' ' + String(type);
        if (count > 20 && !known.has(what)) {
          known.add(what);
          process.stderr.write('listeners: ' + count + ' of ' + what + '\\n');
        }
        return result;
      };
    }
  }`;

test(`no object has leaked event listeners after ${LOSSES} lost database connections`, { timeout: 180_000 }, async () => {
  const stage = await openStage({ seesOutages: true });
  const service = await stage.start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COUNTER)}` });
  const jobsConnections = async () => {
    const sql = "select pid from pg_stat_activity where application_name = 'emailauth-jobs' and datname = current_database()";
    return (await stage.query(sql)).map(({ pid }) => pid);
  };
  let lost: unknown[] = [];
  for (let i = 0; i < LOSSES; i++) {
    await waitUntil('the jobs are connected again', 60_000, async () => {
      const now = await jobsConnections();
      return now.length > 0 && !now.some((pid) => lost.includes(pid)) && (await service.client().get('/readyz')).status === 200;
    });
    await service.client().get('/api/verify-token?token=nothing');
    lost = await jobsConnections();
    await stage.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  }
  await service.ready();
  expect(service.output()).not.toContain('MaxListenersExceededWarning');
  expect(service.output().match(/^listeners: .*$/gm) ?? []).toEqual([]);
  await stage.close();
});
