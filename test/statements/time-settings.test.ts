import { expect, inject, onTestFinished, test } from 'vitest';
import { openJobsPool } from '../../server/operations/jobs/store.ts';
import { HAS_TIME_SETTINGS } from '../../server/platform/db/client.ts';
import { migrate } from '../../server/platform/db/migrate.ts';
import { sqlFunctions } from '../../server/signin/sql-functions.ts';
import { createDatabase, query } from '../support/postgres.ts';
import { openPatientDatabase } from './database.ts';

const AT = '2026-03-29T00:30:00.125Z';

test.each(['German, DMY', 'SQL, MDY', 'Postgres, DMY'])(
  'times are read and written alike on a database whose DateStyle is %s',
  async (style) => {
    const url = await createDatabase(inject('clusterUrl'), inject('templateUrl'));
    const name = new URL(url).pathname.slice(1);
    await query(url, `alter database ${name} set datestyle = '${style}'; alter database ${name} set timezone = 'Europe/Vilnius'`);
    const database = openPatientDatabase(url);
    const jobs = openJobsPool(url);
    onTestFinished(async () => {
      await jobs.end();
      await database.close();
    });
    const sql = `select ${HAS_TIME_SETTINGS} as settings, '${AT}'::timestamptz as at`;
    for (const pool of [database.core, jobs]) expect((await pool.query(sql)).rows).toEqual([{ settings: true, at: new Date(AT) }]);
    const [row] = await (await database.orm()).sequelize.query(sql);
    expect(row).toMatchObject([{ settings: true, at: new Date(AT) }]);
  },
);

test('a database whose DateStyle is not ISO is migrated', async () => {
  const url = await createDatabase(inject('clusterUrl'));
  await query(url, `alter database ${new URL(url).pathname.slice(1)} set datestyle = 'German, DMY'`);
  await migrate(url, { functions: sqlFunctions });
  expect(await query(url, 'select count(*)::int as count from websites')).toEqual([{ count: 0 }]);
});
