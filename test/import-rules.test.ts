import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult, type IForbiddenRuleType, type IOptions } from 'dependency-cruiser';
import { afterAll, beforeAll, expect, test } from 'vitest';

const require = createRequire(import.meta.url);
type Config = { forbidden: (IForbiddenRuleType & { name: string })[]; options: IOptions };
/** The rules on files, and the rule on folders, which leaves tests out. */
const configs: Config[] = [require('../.dependency-cruiser.cjs'), require('../.dependency-cruiser-folders.cjs')];

type Tree = Record<string, string>;

/** Files of an otherwise empty repository that violate a rule, by the name of the rule. */
const violations: Record<string, Tree> = {
  'contract-imports-only-zod': { 'contract/a.ts': "import 'express';" },
  'cli-is-not-imported': { 'server/a.ts': "import '../cli/main.ts';", 'cli/main.ts': 'export {};' },
  'cli-imports-other-programs-lazily': {
    'cli/main.ts': "import { x } from '../diagnostics/check.ts'; x();",
    'diagnostics/check.ts': 'export const x = () => 1;',
  },
  'cli-loads-the-service-by-server-package': {
    'cli/main.ts': "await import('../server/main.ts');",
    'server/main.ts': 'export {};',
  },
  'cli-stays-out-of-web': { 'cli/main.ts': "import '../web/pages.ts';", 'web/pages.ts': 'export {};' },
  'web-imports-no-other-program': {
    'web/a.ts': "import type { Config } from '../server/platform/config.ts'; export type A = Config;",
    'server/platform/config.ts': 'export type Config = 1;',
  },
  'web-runs-in-browsers': { 'web/lib/a.ts': "import 'node:fs';" },
  'web-features-do-not-import-each-other': {
    'web/features/admin/page.ts': "import '../signin/page.ts';",
    'web/features/signin/page.ts': 'export {};',
  },
  'web-imports-one-way': { 'web/ui/button.ts': "import '../features/signin/page.ts';", 'web/features/signin/page.ts': 'export {};' },
  'mcp-imports-no-other-program': { 'mcp/server.ts': "import '../server/platform/config.ts';", 'server/platform/config.ts': 'export {};' },
  'diagnostics-imports-contract-only': { 'diagnostics/check.ts': "import '../mcp/tool.ts';", 'mcp/tool.ts': 'export {};' },
  'diagnostics-is-imported-by-programs-only': { 'web/a.ts': "import '../diagnostics/check.ts';", 'diagnostics/check.ts': 'export {};' },
  'templates-import-contract-only': { 'templates/render.ts': "import '../web/pages.ts';", 'web/pages.ts': 'export {};' },
  'docs-import-contract-and-templates-only': { 'docs/read.ts': "import '../mcp/server.ts';", 'mcp/server.ts': 'export {};' },
  'server-imports-contract-docs-and-mcp-server-only': { 'server/app.ts': "import '../mcp/tool.ts';", 'mcp/tool.ts': 'export {};' },
  'express-stays-in-http-and-routes': {
    'server/websites/websites.ts': "import type { Request } from 'express'; export type A = Request;",
  },
  'sequelize-and-pg-stay-in-stores-and-db': { 'server/websites/websites.ts': "import { Sequelize } from 'sequelize'; new Sequelize();" },
  'nodemailer-stays-in-the-mailer': { 'server/signin/signin.ts': "import { createTransport } from 'nodemailer'; createTransport();" },
  'a-feature-keeps-its-store-and-routes': {
    'server/developers/accounts.ts': "import '../signin/session-store.ts';",
    'server/signin/session-store.ts': 'export {};',
  },
  'routes-reach-the-store-through-the-domain': {
    'server/signin/routes.ts': "import './store.ts';",
    'server/signin/store.ts': 'export {};',
  },
  'server-imports-one-way': { 'server/signin/signin.ts': "import './routes.ts';", 'server/signin/routes.ts': 'export {};' },
  'stores-import-no-callers': {
    'server/signin/store.ts': "import '../platform/http/endpoint.ts';",
    'server/platform/http/endpoint.ts': 'export {};',
  },
  'only-tests-import-test': { 'server/main.ts': "import '../test/harness.ts';", 'test/harness.ts': 'export {};' },
  'tests-are-not-imported': { 'server/a.test.ts': "import './b.test.ts';", 'server/b.test.ts': 'export {};' },
  'server-imports-packages-of-its-manifest': { 'server/main.ts': "import { Command } from 'commander'; new Command();" },
  'packages-are-declared': { 'docs/read.ts': "import { Pool } from 'pg-pool'; new Pool();" },
  'no-cycles': { 'server/a.ts': "import './b.ts';", 'server/b.ts': "import './a.ts';" },
  'no-folder-loops': {
    'server/platform/http/endpoint.ts': "import '../../signin/secrets.ts';",
    'server/signin/secrets.ts': 'export {};',
    'server/signin/signin.ts': "import '../platform/http/limits.ts';",
    'server/platform/http/limits.ts': 'export {};',
  },
  'no-barrels': { 'server/signin/index.ts': "export * from './signin.ts';", 'server/signin/signin.ts': 'export {};' },
  'no-utils': { 'server/a.ts': "import './http/utils.ts';", 'server/http/utils.ts': 'export {};' },
  'every-import-resolves': { 'server/a.ts': "import './gone.ts';" },
};

/** Files that violate no rule. */
const valid: Tree = {
  'contract/calls.ts': "import { z } from 'zod'; export const Shape = z.object({});",
  'cli/main.ts': "import { Shape } from '../contract/calls.ts'; await import('../diagnostics/check.ts'); Shape.parse({});",
  'diagnostics/check.ts': "import '../contract/calls.ts';",
  'server/main.ts': "import './app.ts';",
  'server/app.ts': "import express from 'express'; import './signin/routes.ts'; express();",
  'server/docs/routes.ts': "import '../../docs/read.ts';",
  'docs/read.ts': "import './pages.ts'; import '../templates/render.ts';",
  'docs/pages.ts': "import '../templates/catalog.ts';",
  'templates/catalog.ts': 'export {};',
  'templates/render.ts': "import './catalog.ts'; import '../contract/calls.ts';",
  'mcp/server.ts': "import '../diagnostics/check.ts'; import '../docs/read.ts'; import '../templates/render.ts';",
  'server/signin/feature.ts': "import './routes.ts';",
  'server/signin/routes.ts': "import './signin.ts'; import '../platform/http/endpoint.ts'; import '../../contract/calls.ts';",
  'server/signin/signin.ts': "import './store.ts'; import '../mail/mailer.ts'; import '../websites/websites.ts';",
  'server/signin/store.ts': "import pg from 'pg'; import '../platform/db/database.ts'; new pg.Pool();",
  'server/websites/websites.ts': "import type { Transaction } from 'sequelize'; import './store.ts'; export type A = Transaction;",
  'server/websites/store.ts': "import { Sequelize } from 'sequelize'; new Sequelize();",
  'server/platform/http/endpoint.ts': "import type { Response } from 'express'; export type A = Response;",
  'server/mail/mailer.ts': "import { createTransport } from 'nodemailer'; createTransport();",
  'server/platform/db/database.ts': "import type { Pool } from 'pg'; export type A = Pool;",
  'web/main.tsx': "import './features/signin/page.tsx';",
  'web/features/signin/page.tsx': "import '../../ui/button.tsx'; import './queries.ts';",
  'web/features/signin/queries.ts': "import '../../../contract/calls.ts';",
  'web/ui/button.tsx': "import '../lib/api.ts';",
  'web/lib/api.ts': "import type { Shape } from '../../contract/calls.ts'; export type A = typeof Shape;",
  'test/harness.ts': "import { test } from 'vitest'; test('x');",
  'test/a.test.ts': "import './harness.ts';",
};

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'emailauth-folders-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** Writes the files to an empty directory and returns the names of the rules that they violate. */
async function rulesViolatedBy(name: string, tree: Tree): Promise<string[]> {
  const root = join(parent, name);
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  await symlink(join(import.meta.dirname, '../node_modules'), join(root, 'node_modules'));
  await symlink(join(import.meta.dirname, '../package.json'), join(root, 'package.json'));
  await mkdir(join(root, 'server'), { recursive: true });
  await symlink(join(import.meta.dirname, '../server/package.json'), join(root, 'server/package.json'));
  const folders = [...new Set(Object.keys(tree).map((path) => path.split('/')[0]))];
  const violated = new Set<string>();
  for (const { forbidden, options } of configs) {
    const report = await cruise(folders, { ...options, baseDir: root, validate: true, ruleSet: { forbidden } });
    for (const { rule } of (report.output as ICruiseResult).summary.violations) violated.add(rule.name);
  }
  return [...violated];
}

test('every import rule has an example that violates it', () => {
  const names = configs.flatMap(({ forbidden }) => forbidden.map((rule) => rule.name));
  expect(Object.keys(violations).sort()).toEqual(names.sort());
});

test.each(Object.entries(violations))('%s reports its violation', async (rule, tree) => {
  expect(await rulesViolatedBy(rule, tree)).toContain(rule);
});

test('a valid tree violates no rule', async () => {
  expect(await rulesViolatedBy('valid', valid)).toEqual([]);
});
