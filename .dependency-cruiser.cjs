// The imports that are allowed. For each rule there is an example that violates it in test/import-rules.test.ts; the comments have the reasons.

const { devDependencies } = require('./server/package.json');

/** The packages in the bundle of the service. */
const bundled = `node_modules/(?:${Object.keys(devDependencies).join('|').replaceAll('.', '\\.')})/`;
const tests = '\\.(?:test|spec)\\.tsx?$';
const store = '^server/.*/[^/]*store[^/]*\\.ts$';
/** A file that puts a feature together, and may mount its routes. */
const feature = '^server/[^/]+/feature\\.ts$';
const routes = '^server/.*/(?:|[^/]+-)routes\\.ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'contract-imports-only-zod',
      comment: 'contract/ runs in browsers and Node.js, in the server and in clients.',
      severity: 'error',
      from: { path: '^contract/', pathNot: tests },
      to: { pathNot: ['^contract/', 'node_modules/(?:zod|zod-openapi)/'] },
    },
    {
      name: 'cli-is-not-imported',
      comment: 'cli/ starts the other programs, so none of them may depend on it.',
      severity: 'error',
      from: { pathNot: '^(?:cli|test)/' },
      to: { path: '^cli/' },
    },
    {
      name: 'cli-imports-other-programs-lazily',
      comment: 'A command must not load what it does not run: use import(). The build of the command shares code with that of the service.',
      severity: 'error',
      from: { path: '^cli/', pathNot: [tests, '^cli/vite\\.config\\.ts$'] },
      to: { path: '^(?:server|mcp|diagnostics)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'cli-loads-the-service-by-server-package',
      comment:
        'The published command has no service beside it: importServer() finds or installs it. Three modules without its packages are bundled.',
      severity: 'error',
      from: { path: '^cli/', pathNot: tests },
      to: {
        path: '^server/',
        pathNot: ['^server/websites/(?:domains|guarded-fetch|icon)\\.ts$', '^server/bundle\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'cli-stays-out-of-web',
      comment: 'The command line reaches the web app only over HTTP.',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^web/' },
    },
    {
      name: 'web-imports-no-other-program',
      comment: 'The web app shares contract/, templates/ and docs/, and uses the service over HTTP.',
      severity: 'error',
      from: { path: '^web/', pathNot: tests },
      to: { path: '^(?:server|cli|mcp|test)/' },
    },
    {
      name: 'web-runs-in-browsers',
      comment: 'Browsers have no modules of Node.js. The build runs in Node.js.',
      severity: 'error',
      from: { path: '^web/', pathNot: [tests, '^web/(?:vite\\.config|build-\\w+)\\.ts$'] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'web-features-do-not-import-each-other',
      comment: 'What two features share belongs to web/ui, web/lib or web/pages.ts.',
      severity: 'error',
      from: { path: '^web/features/([^/]+)/' },
      to: { path: '^web/features/', pathNot: '^web/features/$1/' },
    },
    {
      name: 'web-imports-one-way',
      comment: 'routes → features → ui | lib | pages.',
      severity: 'error',
      from: { path: '^web/(?:ui|lib|pages)[./]', pathNot: tests },
      to: { path: '^web/(?:features|chrome|routes|main)[./]' },
    },
    {
      name: 'mcp-imports-no-other-program',
      comment: 'mcp/ shares contract/, templates/ and docs/, and calls the service with the typed client in its context.',
      severity: 'error',
      from: { path: '^mcp/', pathNot: tests },
      to: { path: '^(?:server|cli|web|test)/' },
    },
    {
      name: 'diagnostics-imports-contract-only',
      comment: 'The checks run in the command line, the MCP server and the service alike.',
      severity: 'error',
      from: { path: '^diagnostics/', pathNot: tests },
      to: { path: '^(?:server|cli|mcp|web|templates|docs|test)/' },
    },
    {
      name: 'diagnostics-is-imported-by-programs-only',
      comment: 'Only the command line, the MCP server and the service run checks.',
      severity: 'error',
      from: { pathNot: '^(?:diagnostics|cli|mcp|server|test)/' },
      to: { path: '^diagnostics/' },
    },
    {
      name: 'templates-import-contract-only',
      comment: 'Every program imports templates/, so it must depend on none of them.',
      severity: 'error',
      from: { path: '^templates/', pathNot: tests },
      to: { path: '^(?:server|cli|web|mcp|diagnostics|docs|test)/' },
    },
    {
      name: 'docs-import-contract-and-templates-only',
      comment: 'Server, web and mcp import docs/, so it must depend on none of them.',
      severity: 'error',
      from: { path: '^docs/', pathNot: tests },
      to: { path: '^(?:server|cli|web|mcp|diagnostics|test)/' },
    },
    {
      name: 'server-imports-contract-docs-and-mcp-server-only',
      comment: 'The server mounts /mcp and serves the documentation; it uses nothing else of the other programs.',
      severity: 'error',
      from: { path: '^server/', pathNot: tests },
      to: { path: '^(?:cli|web|templates|mcp)/', pathNot: '^mcp/server\\.ts$' },
    },
    {
      name: 'express-stays-in-http-and-routes',
      comment: 'Domain files do not depend on Express.',
      severity: 'error',
      from: { path: '^server/', pathNot: ['^server/(?:app|service|platform/platform)\\.ts$', '^server/platform/http/', routes, tests] },
      to: { path: 'node_modules/(?:@types/)?express(?:-serve-static-core)?/' },
    },
    {
      name: 'sequelize-and-pg-stay-in-stores-and-db',
      comment:
        'server/platform/db/ opens connections and defines the models. Other files query through `database`, and use only types of Sequelize and pg.',
      severity: 'error',
      from: { path: '^(?:server|cli|mcp|templates|docs|diagnostics)/', pathNot: ['^server/platform/db/', store, tests] },
      to: { path: 'node_modules/(?:@types/)?(?:sequelize|pg|pg-pool)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nodemailer-stays-in-the-mailer',
      comment: 'All other code sends emails through the outbox.',
      severity: 'error',
      from: { path: '^(?:server|cli|mcp|templates|docs)/', pathNot: '^server/mail/(?:mailer(?:\\.test)?|composition\\.test)\\.ts$' },
      // Its encoders are functions of texts.
      to: { path: 'node_modules/(?:@types/)?nodemailer/', pathNot: '/nodemailer/dist/esm/(?:qp|mime-funcs)/' },
    },
    {
      name: 'a-feature-keeps-its-store-and-routes',
      comment: "Call the other feature's domain file.",
      severity: 'error',
      from: { path: '^server/([^/]+)/' },
      to: { path: [store, routes], pathNot: '^server/$1/' },
    },
    {
      name: 'routes-reach-the-store-through-the-domain',
      comment: 'app → routes → domain file → store | mail.',
      severity: 'error',
      from: { path: routes },
      to: { path: store },
    },
    {
      name: 'server-imports-one-way',
      comment: 'app → routes → domain file → store | mail: no import in the other direction. Only service.ts imports a feature.',
      severity: 'error',
      from: { path: '^server/[^/]+/', pathNot: [feature, routes, tests] },
      to: { path: ['^server/(?:main|app|service)\\.ts$', feature, routes] },
    },
    {
      name: 'stores-import-no-callers',
      comment: 'A store executes SQL. It does not depend on requests or jobs.',
      severity: 'error',
      from: { path: store, pathNot: tests },
      to: { path: '^server/(?:platform/http|operations/jobs)/', pathNot: store },
    },
    {
      name: 'only-tests-import-test',
      comment: 'test/ holds the harness.',
      severity: 'error',
      from: { pathNot: ['^test/', tests, '^vitest\\.config\\.ts$'] },
      to: { path: '^test/' },
    },
    {
      name: 'tests-are-not-imported',
      comment: 'What two tests share belongs to test/.',
      severity: 'error',
      from: {},
      to: { path: tests },
    },
    {
      name: 'server-imports-packages-of-its-manifest',
      comment: 'emailauth-server is built and installed with the packages of server/package.json only.',
      severity: 'error',
      from: { path: '^server/', pathNot: [tests, '^server/vite\\.config\\.ts$'] },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: ['node_modules/@types/', bundled],
      },
    },
    {
      name: 'packages-are-declared',
      comment: 'Packages of the other folders are bundled or only for tests, and are in the root package.json.',
      severity: 'error',
      from: { pathNot: '^server/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'no-cycles',
      comment: 'Imports go in one direction, so that files can be read in order.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-barrels',
      comment: 'Import from the file that holds the thing.',
      severity: 'error',
      from: { path: '(?:^|/)index\\.tsx?$', pathNot: 'node_modules' },
      to: {},
    },
    {
      name: 'no-utils',
      comment: 'Name a file by what it holds.',
      severity: 'error',
      from: { pathNot: 'node_modules' },
      to: { path: '(?:^|/)(?:utils?|helpers?|common|misc)(?:/|\\.tsx?$)', pathNot: 'node_modules' },
    },
    {
      name: 'every-import-resolves',
      comment: 'Otherwise the other rules cannot check it. The build makes `virtual:docs`.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^virtual:docs$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The files in a template's folder belong to other people's projects, and so do the apps with OpenID Connect clients.
    exclude: { path: '^(?:(?:dist|data)/|templates/[^/]+/|test/integrations/clients/apps/)' },
    // Imports of types count as well: they make folders depend on each other too.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
