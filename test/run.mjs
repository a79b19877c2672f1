// `npm test`: runs projects of vitest.config.ts side by side and prints the sum of their results as the last line.
// `--project=NAME` selects a project. All other arguments are passed to vitest: `npm test -- -t "another browser"`.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Characters of the message of a failed test that the summary repeats. */
const MAX_MESSAGE = 4_000;

const isProject = (argument) => argument.startsWith('--project=');
const selected = process.argv.filter(isProject).map((argument) => argument.slice('--project='.length));
const projects = selected.length > 0 ? selected : ['unit', 'integration'];
const passedOn = process.argv.slice(2).filter((argument) => !isProject(argument));

const directory = await mkdtemp(join(tmpdir(), 'emailauth-results-'));
const file = join(directory, 'results.json');
const code = await runVitest(file);
const result = await readFile(file, 'utf8').then(JSON.parse, () => null);
await rm(directory, { recursive: true, force: true });

const { passed, failures } = result ?? { passed: 0, failures: [] };
// A run without failed tests fails as well when it has an unhandled error or no report.
const failed = code !== 0 || !result ? Math.max(1, failures.length) : failures.length;
// Repeated here because a reader of a long log starts at its end.
for (const { path, fullName, message } of failures) {
  console.log(
    `\nFAILED ${fullName ? `${path} > ${fullName}` : path}\n  ${commandOf(path, fullName)}\n${message.slice(0, MAX_MESSAGE).replace(/^/gm, '  ')}`,
  );
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function runVitest(file) {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    '--reporter=./test/support/progress.ts',
    ...passedOn,
  ];
  return new Promise((resolve) => {
    const env = { ...process.env, TEST_RESULTS: file };
    spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'] }).on('close', resolve);
  });
}

/** Returns the command that runs a file, or one test of it: `-t` takes a regular expression. */
function commandOf(path, fullName) {
  const pattern = fullName?.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", '.');
  return `npx vitest run ${projects.map((name) => `--project ${name} `).join('')}${path}${pattern ? ` -t '${pattern}'` : ''}`;
}
