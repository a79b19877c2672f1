import { defineConfig } from 'vitest/config';
import { plugins } from './test/nightly/mutate.mjs';

/**
 * The projects of `npm test` share their workers. Two for each core of two: a file uses about half a core and waits for processes,
 * leases and retries otherwise. A worker runs many files, since starting one for each would take a tenth of all CPU time.
 */
const workers = { pool: 'forks', isolate: false, maxWorkers: 4 } as const;

/** Bounds for a machine with other load: tests wait for conditions, and end as soon as these hold. */
const limits = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 30_000 } } } as const;

/** Proves that the regular expressions of the sources take linear time. */
const EXPRESSIONS = 'test/regular-expressions.test.ts';
/** Starts a Patroni cluster. */
const TOPOLOGY = 'test/faults/topology.test.ts';

/** unit: beside the code, without services. integration: the built service, PostgreSQL, an SMTP server and a browser. The other projects are not part of `npm test`. */
export default defineConfig({
  test: {
    projects: [
      {
        plugins,
        test: {
          ...workers,
          name: 'unit',
          // The import rules and manifests belong to `npm run check`, which runs this project.
          include: [
            '{contract,diagnostics,server,cli,mcp,templates,docs,web}/**/*.test.{ts,tsx}',
            'test/{import-rules,manifests,test-rules,nightly/mutations}.test.ts',
          ],
          globalSetup: 'templates/derive.mjs',
          testTimeout: 30_000,
        },
      },
      {
        // A static check of a minute of CPU time, part of `npm run check:code`.
        test: {
          name: 'regular-expressions',
          include: [EXPRESSIONS],
          // Uses the JavaScript of recheck on every system; its native program is an optional package.
          env: { RECHECK_BACKEND: 'pure', RECHECK_SYNC_BACKEND: 'pure' },
          testTimeout: 30_000,
        },
      },
      {
        plugins,
        test: {
          ...workers,
          name: 'integration',
          include: ['test/{api,browser,cli,statements,support}/**/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
        },
      },
      {
        test: {
          name: 'templates',
          include: ['test/integrations/templates/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'generators',
          include: ['test/integrations/generators/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/integrations/clients/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
        },
      },
      {
        test: {
          name: 'deployment',
          include: ['test/integrations/deployment/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
          maxWorkers: 2,
        },
      },
      {
        plugins,
        test: {
          ...workers,
          name: 'faults',
          include: ['test/faults/*.test.ts'],
          exclude: [TOPOLOGY],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
          // The long form measures times under load, which other files would increase.
          ...(process.env.FAULTS === 'full' && { maxWorkers: 1 }),
        },
      },
      {
        // Alone and after the other faults, since its four instances of two workers and its two servers of PostgreSQL need all cores.
        test: {
          name: 'topology',
          include: [TOPOLOGY],
          ...limits,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'audits',
          include: ['test/nightly/audits/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
          maxWorkers: 2,
        },
      },
      {
        test: { name: 'screenshots', include: ['test/browser/*.shots.ts'], globalSetup: 'test/support/postgres.ts', hookTimeout: 90_000 },
      },
      {
        test: {
          // One file at a time, since other load lengthens what it measures.
          name: 'measurements',
          include: ['test/{bench,browser}/*.measure.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...limits,
          maxWorkers: 1,
        },
      },
    ],
  },
});
