// `npm test`: projects of vitest.config.ts, one after the other, and one line at the end that adds them up.
// `--project=NAME` is that one alone. All other arguments go on to vitest: `npm test -- -t "another browser"`.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const isProject = (argument) => argument.startsWith('--project=');
const named = process.argv.filter(isProject).map((argument) => argument.slice('--project='.length));
const projects = named.length > 0 ? named : ['unit', 'integration', 'journeys'];
const passedOn = process.argv.slice(2).filter((argument) => !isProject(argument));

const directory = await mkdtemp(join(tmpdir(), 'emailauth-results-'));
const total = { passed: 0, failed: 0 };
const failures = [];

for (const project of projects) {
  console.log(`\n== ${project}`);
  const file = join(directory, `${project}.json`);
  const code = await runProject(project, file);
  const result = await readFile(file, 'utf8').then(JSON.parse, () => null);
  const names = namesOfFailures(project, result);
  failures.push(...names);
  total.passed += result?.numPassedTests ?? 0;
  // A run that failed otherwise, by an unhandled error for instance, is a failure too.
  total.failed += code !== 0 ? Math.max(1, names.length) : names.length;
}

await rm(directory, { recursive: true, force: true });
// Of a long run often only the end is read.
for (const name of failures) console.log(`FAILED ${name}`);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

function runProject(project, file) {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...passedOn,
  ];
  return new Promise((resolve) => {
    spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] }).on('close', resolve);
  });
}

/** Each test that failed, and each file that failed before any of its tests could. */
function namesOfFailures(project, result) {
  return (result?.testResults ?? []).flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    const names = failed.length > 0 ? failed.map((test) => `> ${test.fullName}`) : file.status === 'failed' ? [file.message] : [];
    return names.map((name) => `${project} ${relative(process.cwd(), file.name)} ${name}`);
  });
}
