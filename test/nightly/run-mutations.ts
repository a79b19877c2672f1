/**
 * `npm run mutations`: makes each fault of `mutations.ts` in turn, runs the tests that its row names, and prints which faults they see.
 * `-- TEXT` selects the rows whose file or text contains TEXT. The last line is `N passed, N failed`: seen and not seen.
 */
import { spawn } from 'node:child_process';
import { mutations } from './mutations.ts';

const AT_ONCE = 2;
const [selection = ''] = process.argv.slice(2);
const selected = mutations.filter(({ file, text }) => file.includes(selection) || text.includes(selection));

const tests = [...new Set(selected.flatMap(({ seenBy }) => seenBy))];
if ((await run(tests, null)) !== 0) throw new Error('The tests fail without a mutation.');

let [passed, failed] = [0, 0];
const waiting = selected.entries();
await Promise.all(Array.from({ length: AT_ONCE }, runEach));
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function runEach() {
  // The iterator is shared.
  for (const [, { seenBy, ...mutation }] of waiting) {
    const isSeen = (await run(seenBy, JSON.stringify(mutation))) !== 0;
    if (isSeen) passed++;
    else failed++;
    const { file, text, becomes } = mutation;
    console.log(`${isSeen ? 'seen    ' : 'NOT SEEN'} ${file}: ${JSON.stringify(text)} → ${JSON.stringify(becomes)}`);
  }
}

/** Runs test files until one fails. @param mutation as EMAILAUTH_MUTATION; null: from the sources as they are @returns the exit code */
function run(files: string[], mutation: string | null): Promise<number> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--project', 'integration', '--project', 'faults'];
  const env = { ...process.env, EMAILAUTH_MUTATION: mutation ?? '{}' };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...args, '--bail', '1', ...files], {
      stdio: ['ignore', 'ignore', mutation ? 'ignore' : 'inherit'],
      env,
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}
