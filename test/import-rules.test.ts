import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult, type IForbiddenRuleType, type IOptions } from 'dependency-cruiser';
import { afterAll, beforeAll, expect, test } from 'vitest';

const require = createRequire(import.meta.url);
const { forbidden, options }: { forbidden: (IForbiddenRuleType & { name: string })[]; options: IOptions } =
  require('../.dependency-cruiser.cjs');

type Tree = Record<string, string>;

/** One violation of each rule: the files to add to an empty house. */
const planted: Record<string, Tree> = {
  'contract-imports-only-zod': { 'contract/a.ts': "import 'express';" },
  'nobody-imports-cli': { 'server/a.ts': "import '../cli/main.ts';", 'cli/main.ts': 'export {};' },
  'cli-imports-other-programs-lazily': {
    'cli/main.ts': "import { x } from '../diagnostics/check.ts'; x();",
    'diagnostics/check.ts': 'export const x = () => 1;',
  },
  'cli-stays-out-of-web': { 'cli/main.ts': "import '../web/paths.ts';", 'web/paths.ts': 'export {};' },
  'web-imports-contract-and-templates-only': {
    'web/a.ts': "import type { Config } from '../server/config.ts'; export type A = Config;",
    'server/config.ts': 'export type Config = 1;',
  },
  'web-runs-in-browsers': { 'web/lib/a.ts': "import 'node:fs';" },
  'web-features-never-meet': { 'web/features/admin/page.ts': "import '../signin/page.ts';", 'web/features/signin/page.ts': 'export {};' },
  'web-looks-one-way': { 'web/ui/button.ts': "import '../features/signin/page.ts';", 'web/features/signin/page.ts': 'export {};' },
  'mcp-imports-contract-and-templates-only': { 'mcp/server.ts': "import '../server/config.ts';", 'server/config.ts': 'export {};' },
  'diagnostics-imports-contract-only': { 'diagnostics/check.ts': "import '../mcp/result.ts';", 'mcp/result.ts': 'export {};' },
  'diagnostics-is-imported-by-programs-only': { 'web/a.ts': "import '../diagnostics/check.ts';", 'diagnostics/check.ts': 'export {};' },
  'templates-import-contract-only': { 'templates/render.ts': "import '../web/paths.ts';", 'web/paths.ts': 'export {};' },
  'server-imports-contract-and-mcp-server-only': { 'server/app.ts': "import '../mcp/result.ts';", 'mcp/result.ts': 'export {};' },
  'express-stays-in-http-and-routes': {
    'server/websites/websites.ts': "import type { Request } from 'express'; export type A = Request;",
  },
  'sql-stays-in-stores-and-db': { 'server/websites/websites.ts': "import { Sequelize } from 'sequelize'; new Sequelize();" },
  'nodemailer-stays-in-the-mailer': { 'server/signin/signin.ts': "import { createTransport } from 'nodemailer'; createTransport();" },
  'a-feature-keeps-its-store-and-routes': {
    'server/accounts/accounts.ts': "import '../signin/session-store.ts';",
    'server/signin/session-store.ts': 'export {};',
  },
  'routes-reach-the-store-through-the-domain': {
    'server/signin/routes.ts': "import './store.ts';",
    'server/signin/store.ts': 'export {};',
  },
  'server-looks-one-way': { 'server/signin/signin.ts': "import './routes.ts';", 'server/signin/routes.ts': 'export {};' },
  'stores-look-down-only': { 'server/signin/store.ts': "import '../http/serve.ts';", 'server/http/serve.ts': 'export {};' },
  'only-tests-import-test': { 'server/main.ts': "import '../test/harness.ts';", 'test/harness.ts': 'export {};' },
  'nobody-imports-a-test': { 'server/a.test.ts': "import './b.test.ts';", 'server/b.test.ts': 'export {};' },
  'what-runs-is-a-dependency': { 'server/main.ts': "import { test } from 'vitest'; test('x');" },
  'no-cycles': { 'server/a.ts': "import './b.ts';", 'server/b.ts': "import './a.ts';" },
  'no-barrels': { 'server/signin/index.ts': "export * from './signin.ts';", 'server/signin/signin.ts': 'export {};' },
  'no-utils': { 'server/a.ts': "import './http/utils.ts';", 'server/http/utils.ts': 'export {};' },
  'every-import-resolves': { 'server/a.ts': "import './gone.ts';" },
};

/** What the rules must let pass. */
const sound: Tree = {
  'contract/routes.ts': "import { z } from 'zod'; export const Shape = z.object({});",
  'cli/main.ts':
    "import { Shape } from '../contract/routes.ts'; await import('../server/main.ts'); await import('../diagnostics/check.ts'); Shape.parse({});",
  'diagnostics/check.ts': "import '../contract/routes.ts';",
  'mcp/server.ts': "import '../diagnostics/check.ts';",
  'server/main.ts': "import './app.ts';",
  'server/app.ts': "import express from 'express'; import './signin/routes.ts'; express();",
  'server/signin/routes.ts': "import './signin.ts'; import '../http/serve.ts'; import '../../contract/routes.ts';",
  'server/signin/signin.ts': "import './store.ts'; import '../mail/mailer.ts'; import '../websites/websites.ts';",
  'server/signin/store.ts': "import pg from 'pg'; import '../db/database.ts'; new pg.Pool();",
  'server/websites/websites.ts': "import './store.ts';",
  'server/websites/store.ts': "import { Sequelize } from 'sequelize'; new Sequelize();",
  'server/http/serve.ts': "import type { Response } from 'express'; export type A = Response;",
  'server/mail/mailer.ts': "import { createTransport } from 'nodemailer'; createTransport();",
  'server/db/database.ts': "import type { Pool } from 'pg'; export type A = Pool;",
  'web/main.tsx': "import './features/signin/page.tsx';",
  'web/features/signin/page.tsx': "import '../../ui/button.tsx'; import './queries.ts';",
  'web/features/signin/queries.ts': "import '../../../contract/routes.ts';",
  'web/ui/button.tsx': "import '../lib/api.ts';",
  'web/lib/api.ts': "import type { Shape } from '../../contract/routes.ts'; export type A = typeof Shape;",
  'test/harness.ts': "import { test } from 'vitest'; test('x');",
  'test/a.test.ts': "import './harness.ts';",
};

let houses: string;
beforeAll(async () => {
  houses = await mkdtemp(join(tmpdir(), 'emailauth-rooms-'));
});
afterAll(() => rm(houses, { recursive: true, force: true }));

/** Builds the tree in an empty house and returns the names of the rules it breaks. */
async function brokenBy(name: string, tree: Tree): Promise<string[]> {
  const house = join(houses, name);
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(join(house, dirname(path)), { recursive: true });
    await writeFile(join(house, path), text);
  }
  await symlink(join(import.meta.dirname, '../node_modules'), join(house, 'node_modules'));
  await symlink(join(import.meta.dirname, '../package.json'), join(house, 'package.json'));
  const rooms = [...new Set(Object.keys(tree).map((path) => path.split('/')[0]))];
  const report = await cruise(rooms, { ...options, baseDir: house, validate: true, ruleSet: { forbidden } });
  const { summary } = report.output as ICruiseResult;
  return [...new Set(summary.violations.map((violation) => violation.rule.name))];
}

test('every rule has a planted violation', () => {
  expect(Object.keys(planted).sort()).toEqual(forbidden.map((rule) => rule.name).sort());
});

test.each(Object.entries(planted))('%s fires', async (rule, tree) => {
  expect(await brokenBy(rule, tree)).toContain(rule);
});

test('a sound house breaks no rule', async () => {
  expect(await brokenBy('sound', sound)).toEqual([]);
});
