/**
 * `npm run test:conformance`: the official suite (@modelcontextprotocol/conformance) against the built service: its server scenarios
 * against /mcp, and those of its next version for authorization servers. Its last line counts those that
 * conformance/expected-failures.yml does not except. The scenarios `auth/…` of the suite test clients, so that none of them applies.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMailbox } from '../../support/mailbox.ts';
import { installPinned } from '../../support/pinned-packages.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import { runAuthorizationScenarios } from './conformance-authorization.ts';

/** The lowest major version of Node.js that the suite supports. */
const MIN_NODE = 22;
const START_MS = 60_000;

const here = join(import.meta.dirname, 'conformance');
const baseline = join(here, 'expected-failures.yml');
const expected = readExpected();
// The suite requires a newer Node.js than this repository.
const home = await installPinned(here, 'conformance', ['--engine-strict=false']);
const folder = mkdtempSync(join(tmpdir(), 'emailauth-conformance-'));
// When run by root, the embedded PostgreSQL in there runs as another user.
chmodSync(folder, 0o711);
const mailbox = await openMailbox();
let service: ChildProcess | undefined;
try {
  const url = await start();
  const args = [
    'server',
    '--url',
    `${url}/mcp`,
    '--suite',
    'all',
    '--expected-failures',
    baseline,
    '--output-dir',
    join(folder, 'results'),
  ];
  const suite = join(home, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const node = nodeFor(home);
  const { status } = spawnSync(node, [suite, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const newer = join(home, 'node_modules/conformance-authorization/dist/index.js');
  const results = join(folder, 'authorization');
  report(status, await runAuthorizationScenarios({ url, mailbox, node, suite: newer, results }));
} finally {
  if (service?.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  await mailbox.down();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the scenarios that are expected to fail. Each line of the file must give a reason. */
function readExpected(): Set<string> {
  const lines = readFileSync(baseline, 'utf8').split('\n');
  const names = lines.filter((line) => /^\s*-/.test(line)).map((line) => /^ {2}- ([\w-]+) # \S.*$/.exec(line)?.[1] ?? line);
  const wrong = names.find((name) => !/^[\w-]+$/.test(name));
  if (wrong) throw new Error(`${baseline} has a line without a scenario and its reason: ${wrong}`);
  return new Set(names);
}

/** Returns the path of this Node.js if it is new enough, or of the one that npm installed with the suite. */
function nodeFor(packages: string): string {
  if (Number(process.versions.node.split('.')[0]) >= MIN_NODE) return process.execPath;
  const node = join(packages, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  if (!existsSync(node)) throw new Error(`The conformance suite needs Node.js ${MIN_NODE}, and npm has none for this system.`);
  return node;
}

async function start(): Promise<string> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  let output = '';
  const started = spawn(process.execPath, [join(import.meta.dirname, '../../../dist/cli/main.js'), 'start'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), DATA_DIR: join(folder, 'data'), SMTP_URL: mailbox.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  service = started;
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  await waitUntil(`${url} is ready`, START_MS, async () => {
    if (started.exitCode !== null) throw new Error(`The service ended. It wrote:\n${output}`);
    return fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  return url;
}

/**
 * @param status exit status of the suite, which uses the same file of expected failures
 * @param authorization the scenarios for authorization servers
 */
function report(status: number | null, authorization: { count: number; wrong: string[] }): void {
  const scenarios = new Map(
    readdirSync(join(folder, 'results')).map((name) => [/^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name, name]),
  );
  const wrong = [...expected]
    .filter((scenario) => !scenarios.has(scenario))
    .map((scenario) => `${scenario}: the suite has no such scenario`);
  for (const [scenario, name] of scenarios) {
    const checks: { status: string; errorMessage?: string }[] = JSON.parse(
      readFileSync(join(folder, 'results', name, 'checks.json'), 'utf8'),
    );
    const fault = checks.find((check) => check.status === 'FAILURE' || check.status === 'WARNING');
    if (fault && !expected.has(scenario)) wrong.push(`${scenario}: ${fault.errorMessage ?? fault.status}`);
    if (!fault && expected.has(scenario)) wrong.push(`${scenario}: passes, so its line in expected-failures.yml has to go`);
  }
  if (status !== 0 && wrong.length === 0) wrong.push(`the suite ended with ${status}`);
  const failures = wrong.length;
  wrong.push(...authorization.wrong);
  for (const each of wrong) console.log(`FAILED ${each}`);
  console.log(`\n${expected.size} scenarios do not apply, each with its reason in expected-failures.yml.`);
  const passed = scenarios.size - expected.size - failures + (authorization.wrong.length === 0 ? authorization.count : 0);
  console.log(`${Math.max(0, passed)} passed, ${wrong.length} failed`);
  process.exitCode = wrong.length === 0 && scenarios.size > 0 && authorization.count > 0 ? 0 : 1;
}
