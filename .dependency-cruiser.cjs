// Who may import whom. Each rule is planted and seen to fire in test/import-rules.test.ts; docs/architecture.md tells the reasons.

const tests = '\\.(?:test|spec)\\.tsx?$';
const store = '^server/[^/]+/[^/]*store[^/]*\\.ts$';
const routes = '^server/[^/]+/(?:|[^/]+-)routes\\.ts$';

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
      name: 'nobody-imports-cli',
      comment: 'cli/ is the front door.',
      severity: 'error',
      from: { pathNot: '^cli/' },
      to: { path: '^cli/' },
    },
    {
      name: 'cli-imports-server-and-mcp-lazily',
      comment: 'A command must not pay for what it does not run: use import().',
      severity: 'error',
      from: { path: '^cli/', pathNot: tests },
      to: { path: '^(?:server|mcp)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'cli-stays-out-of-web',
      comment: 'The web app is reached over HTTP alone.',
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
      comment: 'Modules of Node do not exist there.',
      severity: 'error',
      from: { path: '^web/', pathNot: [tests, 'vite\\.config\\.ts$'] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'web-features-do-not-import-each-other',
      comment: 'What two features share belongs to web/ui, web/lib or web/paths.ts.',
      severity: 'error',
      from: { path: '^web/features/([^/]+)/' },
      to: { path: '^web/features/', pathNot: '^web/features/$1/' },
    },
    {
      name: 'web-imports-one-way',
      comment: 'routes → features → ui | lib | paths.',
      severity: 'error',
      from: { path: '^web/(?:ui|lib|paths)[./]', pathNot: tests },
      to: { path: '^web/(?:features|chrome|routes|app|main)[./]' },
    },
    {
      name: 'mcp-imports-no-other-program',
      comment: 'mcp/ shares contract/, templates/ and docs/, and calls the service with the typed client in its context.',
      severity: 'error',
      from: { path: '^mcp/', pathNot: tests },
      to: { path: '^(?:server|cli|web|test)/' },
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
      comment: 'Domain files know no express.',
      severity: 'error',
      from: { path: '^server/', pathNot: ['^server/(?:app|service)\\.ts$', '^server/http/', routes, tests] },
      to: { path: 'node_modules/(?:@types/)?express(?:-serve-static-core)?/' },
    },
    {
      name: 'sql-stays-in-stores-and-db',
      comment:
        'server/db/ defines the models and stores hold the SQL; other files use models of database.orm(), and only types of Sequelize.',
      severity: 'error',
      from: { path: '^(?:server|cli|mcp|templates|docs|diagnostics)/', pathNot: ['^server/db/', store, tests] },
      to: { path: 'node_modules/(?:@types/)?(?:sequelize|pg|pg-pool)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nodemailer-stays-in-the-mailer',
      comment: 'Everybody else hands a mail to the outbox.',
      severity: 'error',
      from: { path: '^(?:server|cli|mcp|templates|docs)/', pathNot: '^server/mail/(?:mailer|compose|dkim|smtp)[^/]*\\.ts$' },
      to: { path: 'node_modules/(?:@types/)?nodemailer/' },
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
      name: 'server-looks-one-way',
      comment: 'app → routes → domain file → store | mail: nothing below calls up.',
      severity: 'error',
      from: { path: '^server/[^/]+/', pathNot: [routes, tests] },
      to: { path: ['^server/(?:main|app|service)\\.ts$', routes] },
    },
    {
      name: 'stores-look-down-only',
      comment: 'A store turns questions into SQL; it serves no request and runs no job.',
      severity: 'error',
      from: { path: store, pathNot: tests },
      to: { path: '^server/(?:http|jobs)/', pathNot: store },
    },
    {
      name: 'only-tests-import-test',
      comment: 'test/ holds the harness.',
      severity: 'error',
      from: { pathNot: ['^test/', tests, '^vitest\\.config\\.ts$'] },
      to: { path: '^test/' },
    },
    {
      name: 'nobody-imports-a-test',
      comment: 'What two tests share belongs to test/.',
      severity: 'error',
      from: {},
      to: { path: tests },
    },
    {
      name: 'what-runs-is-a-dependency',
      comment: 'A development dependency is not there in production.',
      severity: 'error',
      from: { path: '^(?:contract|diagnostics|server|cli|mcp|templates|docs)/', pathNot: tests },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'no-cycles',
      comment: 'A reader follows imports in one direction.',
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
      comment: 'Else the other rules are blind to it.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The files in a template's folder belong to other people's projects.
    exclude: { path: '^(?:(?:dist|data)/|templates/[^/]+/)' },
    // Imports of types count as well: they make folders depend on each other too.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
