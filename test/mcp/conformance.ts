/**
 * `npm run test:conformance`: the official suite's server scenarios (@modelcontextprotocol/conformance) against /mcp of the
 * built service. Its last line counts those that conformance/expected-failures.yml does not except.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPinned } from '../pinned-packages.ts';
import { freePort, waitUntil } from '../waiting.ts';

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
  const { status } = spawnSync(nodeFor(home), [suite, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  report(status);
} finally {
  if (service?.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
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
  const started = spawn(process.execPath, [join(import.meta.dirname, '../../dist/cli/main.js'), 'start'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), DATA_DIR: join(folder, 'data') },
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

/** @param status exit status of the suite, which uses the same file of expected failures */
function report(status: number | null): void {
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
  for (const each of wrong) console.log(`FAILED ${each}`);
  console.log(`\n${expected.size} scenarios do not apply, each with its reason in expected-failures.yml.`);
  console.log(`${Math.max(0, scenarios.size - expected.size - wrong.length)} passed, ${wrong.length} failed`);
  process.exitCode = wrong.length === 0 && scenarios.size > 0 ? 0 : 1;
}
