import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestCase, TestModule, TestSuite } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';

/** A failed test, or a file or suite of which a hook or the import failed, which has no name in the first case. */
type Failure = { path: string; fullName: string | undefined; message: string };
type Errors = readonly { message: string; stack?: string }[];

/**
 * Prints a line for each test file that ends: how many have, how long it took, and about how much time is left.
 * Writes `{ passed, failures }` as JSON to the file that TEST_RESULTS names.
 */
export default class Progress implements Reporter {
  readonly #failures: Failure[] = [];
  #passed = 0;
  #files = 0;
  #done = 0;
  #start = 0;

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#files = specifications.length;
    this.#start = performance.now();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#done++;
    const tests = [...module.children.allTests()];
    const failed = tests.filter((test) => test.result().state === 'failed');
    const failures = failuresOf(module, failed);
    this.#failures.push(...failures);
    this.#passed += tests.filter((test) => test.result().state === 'passed').length;
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    const count = failed.length > 0 ? `${failed.length} of ${tests.length} tests failed` : `${tests.length} tests`;
    console.log(`${this.#place()} ${module.state() === 'failed' ? 'FAILED' : 'passed'} ${pathOf(module)}: ${count}, ${seconds} s`);
    for (const { fullName, message } of failures) console.log(`  ${fullName ?? 'Outside of tests'}\n${message.replace(/^/gm, '    ')}`);
  }

  async onTestRunEnd(_: readonly TestModule[], errors: Errors): Promise<void> {
    for (const { message, stack } of errors) console.log(`Outside of tests: ${stack ?? message}`);
    console.log(`${this.#done} of ${this.#files} files in ${timeOf(performance.now() - this.#start)}`);
    const { TEST_RESULTS } = process.env;
    if (TEST_RESULTS) await writeFile(TEST_RESULTS, JSON.stringify({ passed: this.#passed, failures: this.#failures }));
  }

  #place(): string {
    const left = ((performance.now() - this.#start) / this.#done) * (this.#files - this.#done);
    return `[${this.#done}/${this.#files}, ${this.#done < this.#files ? `about ${timeOf(left)} left` : 'the last'}]`;
  }
}

const pathOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

/** Returns what failed in a file. A hook of a suite that fails leaves the tests of the suite skipped: it is a failure of its own. */
function failuresOf(module: TestModule, failed: readonly TestCase[]): Failure[] {
  const path = pathOf(module);
  const hooks = [module, ...module.children.allSuites()].flatMap((suite: TestModule | TestSuite) =>
    suite.errors().length > 0
      ? [{ path, fullName: 'fullName' in suite ? suite.fullName : undefined, message: messageOf(suite.errors()) }]
      : [],
  );
  return [...hooks, ...failed.map((test) => ({ path, fullName: test.fullName, message: messageOf(test.result().errors ?? []) }))];
}

/** Joins the messages of a failed test, without the lines of the stack that are in packages. */
function messageOf(errors: Errors): string {
  const text = stripVTControlCharacters(errors.map(({ message, stack }) => stack || message).join('\n'));
  return text
    .split('\n')
    .filter((line) => !/^ +at .*\/node_modules\//.test(line))
    .join('\n');
}

/** Returns a duration as "1 min 5 s". @param milliseconds */
function timeOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
