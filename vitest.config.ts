import { defineConfig } from 'vitest/config';

/**
 * The projects of `npm test` share their workers. Two for each core of two: a file uses about half a core and waits for processes,
 * leases and retries otherwise. A worker runs many files, since starting one for each would take a tenth of all CPU time.
 */
const workers = { pool: 'forks', isolate: false, maxWorkers: 4 } as const;

/** unit: beside the code, without services. integration and journeys: the built service, PostgreSQL, an SMTP server and a browser. templates, screenshots and measurements are not part of `npm test`. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...workers,
          name: 'unit',
          // The import rules and the regular expressions belong to `npm run check`, which runs this project.
          include: [
            '{contract,diagnostics,server,cli,mcp,templates,docs,web}/**/*.test.{ts,tsx}',
            'test/{import-rules,manifests,regular-expressions,linear-time}.test.ts',
          ],
          // Uses the JavaScript of recheck on every system; its native program is an optional package.
          env: { RECHECK_BACKEND: 'pure', RECHECK_SYNC_BACKEND: 'pure' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...workers,
          name: 'integration',
          include: ['test/*.test.ts', 'test/cli/*.test.ts', 'test/mcp/*.test.ts'],
          exclude: ['test/{import-rules,manifests,regular-expressions,linear-time}.test.ts'],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...workers,
          name: 'journeys',
          include: ['test/journeys/*.spec.ts'],
          // A browser on a busy machine may lose a click. The report has the retries.
          retry: process.env.CI ? 1 : 0,
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 30_000 } },
        },
      },
      {
        test: {
          name: 'templates',
          include: ['test/templates/*.test.ts'],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'generators',
          include: ['test/generators/*.test.ts'],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/openid-connect/*.test.ts'],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'deployment',
          include: ['test/deployment/*.test.ts'],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'faults',
          include: [
            'test/faults/*.test.ts',
            // Their short form is part of `npm test`.
            ...(process.env.FAULTS === 'full' ? ['test/{database-faults,drain,failover,instances,mail-faults,outbox}.test.ts'] : []),
          ],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
      {
        test: { name: 'screenshots', include: ['test/journeys/*.shots.ts'], globalSetup: 'test/postgres.ts', hookTimeout: 90_000 },
      },
      {
        test: {
          name: 'measurements',
          include: ['test/{bench,journeys}/*.measure.ts'],
          globalSetup: 'test/postgres.ts',
          testTimeout: 120_000,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
