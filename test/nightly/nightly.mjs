// `npm run test:nightly`: everything that `npm test` leaves out, and the last line `N passed, N failed` for all of it.
// `--changed`: the parts whose sources the commits of the last day touch, and of each other part the tests that they touch and one more
// file, the next one every day.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const NEWEST_LTS = '26';
const DAY_MS = 86_400_000;
/** Downloads a Debian root and takes several minutes; a workflow builds it every night. */
const IMAGE = 'test/integrations/deployment/image.test.ts';

/** `changes`: the paths of what the part tests, and of its tests. A part without `folder` always runs as a whole. */
const parts = [
  { name: 'conformance', run: script('test:conformance'), changes: /^(?:mcp|server\/mcp|test\/api\/mcp)\// },
  {
    name: 'audits',
    run: script('test:audits'),
    folder: 'test/nightly/audits',
    changes: /^(?:web|server\/(?:languages|pages)|test\/nightly\/audits)\//,
  },
  {
    name: 'templates',
    run: script('test:templates'),
    folder: 'test/integrations/templates',
    changes: /^(?:templates|test\/integrations\/templates)\//,
  },
  {
    name: 'generators',
    run: script('test:generators'),
    folder: 'test/integrations/generators',
    changes: /^(?:cli\/init|templates|test\/integrations\/generators)\//,
  },
  {
    name: 'clients',
    run: script('test:clients'),
    folder: 'test/integrations/clients',
    changes: /^(?:server\/oidc|test\/integrations\/clients)\//,
  },
  {
    name: 'deployment',
    run: script('test:deployment'),
    folder: 'test/integrations/deployment',
    changes: /^(?:server\/deploy|test\/integrations\/deployment)\//,
  },
  { name: 'faults', run: script('test:faults'), folder: 'test/faults', changes: /^(?:server|test\/faults)\// },
  { name: `Node.js ${NEWEST_LTS}`, run: onNewestNode, folder: 'test/api', changes: /^\.nvmrc$/ },
];

const onlyChanged = process.argv.includes('--changed');
const changed = onlyChanged ? changesOfLastDay() : null;
const day = Math.floor(Date.now() / DAY_MS);
const total = { passed: 0, failed: 0, failures: [] };
const leftOut = [];
for (const { name, run, folder, changes } of parts) {
  const all = folder ? testsIn(folder) : [];
  const allowed = onlyChanged ? all.filter((file) => file !== IMAGE) : all;
  const touched = changed?.filter((path) => changes.test(path));
  // What is not a test may change any test of the part.
  const isWhole = !folder || !touched || touched.some((path) => !all.includes(path));
  const selected = isWhole ? allowed : allowed.filter((file, place) => place === day % allowed.length || touched.includes(file));
  leftOut.push(...all.filter((file) => !selected.includes(file)).map((file) => `${name}: ${file}`));
  console.log(`\n=== ${name}${isWhole ? '' : `: ${selected.join(' ')}`}\n`);
  add(await run(selected));
}
if (leftOut.length > 0) console.log(`\nLeft out:\n  ${leftOut.join('\n  ')}`);
// Repeated here because a reader of a long log starts at its end.
if (total.failures.length > 0) console.log(`\n${total.failures.join('\n')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

/** Returns the paths that differ from the newest commit that is a day older than HEAD; null when the clone does not contain it. */
function changesOfLastDay() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    const before = Number(git('log', '-1', '--format=%ct')) - DAY_MS / 1000;
    const base = git('rev-list', '-1', `--before=${before}`, 'HEAD');
    if (!base) return null;
    // Neither a file that only moved nor a unit test changes what the parts test.
    const paths = git('diff', '--name-only', '--find-renames=90%', '--diff-filter=r', base, 'HEAD').split('\n');
    return paths.filter((path) => path.startsWith('test/') || !/\.test\.tsx?$/.test(path));
  } catch {
    return null;
  }
}

function testsIn(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  return names.map((name) => `${folder}/${name}`).sort();
}

function add({ passed, failed, failures }) {
  total.passed += passed;
  total.failed += failed;
  total.failures.push(...failures);
}

function script(name) {
  return (files) => runTests('npm', ['run', name, '--', ...files]);
}

/** Runs the unit tests and integration tests on the newest LTS of Node.js, which npm supplies. */
async function onNewestNode(files) {
  const none = { passed: 0, failed: 0, failures: [] };
  if (process.versions.node.startsWith(`${NEWEST_LTS}.`)) return none;
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-node-'));
  try {
    execFileSync('npm', ['install', '--no-save', '--loglevel=error', '--prefix', directory, `node@${NEWEST_LTS}`], { stdio: 'inherit' });
    const PATH = `${join(directory, 'node_modules/node/bin')}${delimiter}${process.env.PATH}`;
    add(await runTests('node', ['test/run.mjs', '--project=unit'], { PATH }));
    return await runTests('node', ['test/run.mjs', '--project=integration', ...files], { PATH });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs a command and reads its last line and its `FAILED` lines. An exit code without failed tests counts as one. */
function runTests(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
    let output = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      output += chunk;
    });
    child.on('close', (code) => {
      const text = stripVTControlCharacters(output);
      const [passed = 0, failed = 0] =
        /^(\d+) passed, (\d+) failed$/m
          .exec(text.slice(text.lastIndexOf('\n\n')))
          ?.slice(1)
          .map(Number) ?? [];
      const failures = text.match(/^FAILED .*(?:\n {2}.*)*/gm) ?? [];
      resolve({ passed, failed: code === 0 ? failed : Math.max(1, failed), failures });
    });
  });
}
